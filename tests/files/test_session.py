"""One account over many fits: exact, on disk before noise is drawn, never refunded, never lost."""

import copy
import errno
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from fractions import Fraction as Q
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from contract_cases import ALGORITHMS, binary, make
from filelock import FileLock, lock_descriptor
from hypothesis import given
from hypothesis import strategies as st

import pdsynth as pds
from pdsynth.core.noise import ExactNoise
from pdsynth.files import session as session_room
from pdsynth.files.session import Session

SHARES = st.fractions(min_value=Q(1, 1000), max_value=3, max_denominator=1000)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "account.jsonl"


def charge_all(session, amounts):
    for number, amount in enumerate(amounts, 1):
        session.reserve(amount, f"step {number}")
    return session


def with_charges(path, *amounts, epsilon=2):
    return charge_all(Session(epsilon, path), amounts)


def in_threads(work, number=4):
    """The same work in some threads at once, until all are done."""
    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class TestArithmetic:
    def test_thirds_add_up_to_one_exactly(self):
        session = Session(1)
        for _ in range(3):
            session.reserve("1/3", "third")
        assert (session.spent, session.remaining) == (1, 0)
        assert [c.epsilon for c in session.charges] == [Q(1, 3)] * 3

    def test_ten_times_a_tenth_is_one_and_not_a_hair_more_is_left(self, path):
        session = Session(1.0, path)
        for _ in range(10):
            session.reserve(0.1, "tenth")
        with pytest.raises(pds.BudgetError, match=r"overdraft: more asks for ε = 1/1000000, "):
            session.reserve(Q(1, 10**6), "more")

    @pytest.mark.slow
    @given(st.lists(SHARES, max_size=8), SHARES)
    def test_nothing_is_charged_beyond_epsilon_whatever_is_asked(self, asked, epsilon):
        session, spent = Session(epsilon), Q(0)
        for amount in asked:
            if spent + amount <= epsilon:
                session.reserve(amount, "s")
                spent += amount
            else:
                with pytest.raises(pds.BudgetError, match="overdraft"):
                    session.reserve(amount, "s")
            assert session.spent == spent <= epsilon
            assert session.remaining == epsilon - spent

    def test_an_overdraft_says_the_numbers_and_writes_nothing(self, path):
        session = with_charges(path, "3/2")
        before = path.read_bytes()
        with pytest.raises(pds.BudgetError, match=r"b asks for ε = 1, .* to 5/2 of 2; nothing"):
            session.reserve(1, "b")
        assert path.read_bytes() == before

    @pytest.mark.parametrize("bad", [0, -1, "much", float("nan"), float("inf"), None])
    def test_amounts_that_mean_nothing_are_refused(self, bad):
        with pytest.raises(pds.BudgetError, match="epsilon must be"):
            Session(1).reserve(bad, "s")
        with pytest.raises(pds.BudgetError, match="epsilon must be"):
            Session(bad)

    def test_an_endless_fraction_is_refused_before_it_is_written(self, path):
        session = Session(1, path)
        with pytest.raises(pds.BudgetError, match="more than a thousand digits"):
            session.reserve(Q(1, 3) + Q(1, 10**1200), "s")
        assert session.charges == Session(1, path).charges == ()


class TestLongFractions:
    """Fractions without a common denominator: each sum has as many digits as all of them."""

    AMOUNTS = [Q(10**200, 10**250 + 2 * j + 1) for j in range(40)]

    def test_the_common_denominator_is_bounded_where_it_is_charged(self, path):
        for session in (Session(1), Session(1, path)):
            with pytest.raises(pds.BudgetError, match="common denominator .* 4,096 bits"):
                charge_all(session, self.AMOUNTS)
            assert 3 < len(session.charges) < 10
            assert session.spent.denominator.bit_length() <= 4096
            session.reserve("1/2", "the account goes on")

    def test_and_where_it_is_read(self, path, monkeypatch):
        monkeypatch.setattr(session_room, "DENOMINATOR_BITS", 10**6)
        written = with_charges(path, *self.AMOUNTS, epsilon=1)
        assert written.spent.denominator.bit_length() > 30_000, "the twin: digits without end"
        monkeypatch.undo()
        with pytest.raises(pds.BudgetError, match="common denominator .* 4,096 bits"):
            Session(1, path)


class TestGroups:
    def test_a_person_loses_what_was_charged_to_all_and_to_her_own_group(self, path):
        """1/4 to all, 1/2 to A, 1/3 to B: a person of A has lost 3/4, of B 7/12."""
        session = Session(1, path)
        a, b = session.group("A"), session.group("B")
        session.reserve("1/4", "all")
        a.reserve("1/2", "A only")
        b.reserve("1/3", "B only")
        assert (session.spent, a.spent, b.spent) == (Q(3, 4), Q(3, 4), Q(7, 12))
        assert (a.remaining, b.remaining, session.remaining) == (Q(1, 4), Q(5, 12), Q(1, 4))
        b.reserve("5/12", "the rest of B")
        with pytest.raises(pds.BudgetError, match=r"to 5/4 of 1"):
            session.reserve("1/4", "would overdraw B")
        assert Session(1, path).group("A").spent == Q(3, 4)
        assert Session(1, path).charges == session.charges

    def test_a_new_group_starts_with_what_all_have_lost(self):
        session = Session(1)
        session.reserve("2/3", "all")
        with pytest.raises(pds.BudgetError, match="to 7/6 of 1"):
            session.group("new").reserve("1/2", "s")

    def test_a_group_needs_a_name_and_has_no_groups_of_its_own(self):
        for name in ("", None, 3):
            with pytest.raises(pds.BudgetError, match="needs a name"):
                Session(1).group(name)
        with pytest.raises(pds.BudgetError, match="account of 'A'"):
            Session(1).group("A").group("B")

    def test_no_name_of_a_group_stands_for_everybody(self):
        """What was charged to all and to a group so named was the larger of both, not their sum."""
        session = Session(1)
        own = session.group("those with ε = 1 of everybody")
        session.reserve("1/2", "s")
        own.reserve("1/2", "s")
        assert session.spent == own.spent == 1


class TestFile:
    def test_another_session_continues_the_account(self, path):
        with_charges(path, "1/2", "1/3")
        again = Session(2, path)
        assert again.spent == Q(5, 6)
        assert [c.step for c in again.charges] == ["step 1", "step 2"]
        again.reserve("1/6", "step 3")
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert lines[0].pop("hash") != lines[1]["hash"]
        assert lines[0] == {"format": "pdsynth-session-2", "epsilon": "2"}
        assert [(line["charge"], line["epsilon"]) for line in lines[1:]] == [
            (1, "1/2"),
            (2, "1/3"),
            (3, "1/6"),
        ]

    def test_two_sessions_at_once_see_each_others_charges(self, path):
        one, two = Session(1, path), Session(1, path)
        one.reserve("2/3", "one")
        with pytest.raises(pds.BudgetError, match="to 4/3 of 1"):
            two.reserve("2/3", "two")
        assert two.spent == Q(2, 3)

    def test_two_names_of_one_file_are_one_account_with_one_lock(self, path, monkeypatch):
        """Else two processes could read the same rest, and both spend it."""
        session, link = with_charges(path, "1/2"), path.with_name("link.jsonl")
        link.symlink_to(path)
        other = Session(2, link)
        assert other.spent == Q(1, 2)
        monkeypatch.setattr(session_room, "PATIENCE", 0)
        with FileLock(f"{path}.lock"), pytest.raises(pds.BudgetError, match="another process"):
            other.reserve(1, "s")
        other.reserve(1, "s")
        assert session.spent == Q(3, 2)

    def test_twin_a_lock_beside_the_link_excludes_nobody(self, path, monkeypatch):
        session, link = with_charges(path, "1/2"), path.with_name("link.jsonl")
        link.symlink_to(path)
        session._path = link  # as written, not as it is
        monkeypatch.setattr(session_room, "PATIENCE", 0)
        with FileLock(f"{path}.lock"):
            session.reserve(1, "nobody was waited for")

    def test_it_stays_the_same_account_in_another_folder(self, path, monkeypatch):
        monkeypatch.chdir(path.parent)
        session = with_charges(path.name, "1/2")
        (path.parent / "elsewhere").mkdir()
        monkeypatch.chdir(path.parent / "elsewhere")
        other = Session(2, path.name)
        session.reserve(1, "after the move")
        assert (session.spent, other.spent, Session(2, path).spent) == (Q(3, 2), 0, Q(3, 2))

    def test_any_text_may_say_what_for(self, path):
        session = Session(1, path)
        for words in ("\ud800", "\x85\u2028\r\n\0", "诊所"):
            session.group(words).reserve("1/9", words)
        assert [c.step for c in Session(1, path).charges] == [c.people for c in session.charges]

    def test_another_epsilon_is_refused(self, path):
        with_charges(path, 1)
        with pytest.raises(pds.BudgetError, match=r"account of ε = 2, not of 3"):
            Session(3, path)
        assert Session("4/2", path).spent == 1

    def test_a_line_that_a_crash_cut_short_is_dropped_wherever_it_was_cut(self, path):
        """The file is written before ``.last`` is, which so tells of the line before."""
        session, side = with_charges(path, "1/2"), path.with_name("account.jsonl.last")
        before = side.read_bytes()
        session.reserve("1/3", "cut short")
        data = path.read_bytes()
        start = data[:-1].rindex(b"\n") + 1
        for end in range(start, len(data) - 1):
            path.write_bytes(data[:end])
            side.write_bytes(before)
            assert Session(2, path).spent == Q(1, 2)
            Session(2, path).reserve("1/5", "next")
            assert Session(2, path).spent == Q(7, 10)
            assert path.read_bytes().startswith(data[:start])

    def test_a_charge_whose_line_has_lost_its_end_counts(self, path):
        """9/10 of 1 are spent: another 9/10 are an overdraft, and 1/10 makes the file whole."""
        with_charges(path, "9/10", epsilon=1)
        data = path.read_bytes()
        path.write_bytes(data[:-1])
        assert Session(1, path).spent == Q(9, 10)
        with pytest.raises(pds.BudgetError, match="to 9/5 of 1"):
            Session(1, path).reserve("9/10", "once more")
        Session(1, path).reserve("1/10", "the rest")
        assert Session(1, path).spent == 1
        assert path.read_bytes().startswith(data)

    def test_twin_a_reader_of_ended_lines_forgets_it(self, path, monkeypatch):
        with_charges(path, "9/10", epsilon=1)
        path.write_bytes(path.read_bytes()[:-1])
        path.with_name("account.jsonl.last").unlink()
        monkeypatch.setattr(session_room, "_is_whole", lambda rest: False)
        assert Session(1, path).spent == 0

    def test_a_first_write_that_a_crash_cut_short_is_written_again(self, path):
        Session(2, path).reserve("1/2", "s")
        data = path.read_bytes()
        path.with_name("account.jsonl.last").unlink()
        for end in range(len(data) - 1):
            path.write_bytes(data[:end])
            Session(2, path).reserve(1, "s")
            assert Session(2, path).spent == 1
            path.with_name("account.jsonl.last").unlink()

    @pytest.mark.parametrize("kept", [0, 1, 2])
    def test_whole_lines_cut_off_the_end_are_missed(self, path, kept):
        with_charges(path, "1/2", "1/3", "1/6")
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[: kept + 1]))
        with pytest.raises(pds.BudgetError, match=f"holds {kept} charges?, and there were 3"):
            Session(2, path)

    def test_an_older_copy_is_no_account(self, path):
        session = with_charges(path, "1/2")
        older = path.read_bytes()
        session.reserve("1/3", "later")
        path.write_bytes(older)
        with pytest.raises(pds.BudgetError, match="an older copy: it holds 1 charge, and there"):
            Session(2, path)

    def test_another_account_of_as_many_charges_is_not_this_one(self, path):
        with_charges(path.with_name("other"), "1/9", "1/9")
        with_charges(path, "1/2", "1/3")
        path.write_bytes(path.with_name("other").read_bytes())
        with pytest.raises(pds.BudgetError, match="don't belong together"):
            Session(2, path)

    def test_twin_without_the_second_file_a_cut_is_not_seen(self, path):
        """What the docstring says: of an older copy of both files only an open session knows."""
        session = with_charges(path, "1/2")
        copies = {file: file.read_bytes() for file in path.parent.iterdir()}
        session.reserve("1/3", "later")
        for file, data in copies.items():
            file.write_bytes(data)
        assert Session(2, path).spent == Q(1, 2)
        with pytest.raises(pds.BudgetError, match="there were 2"):
            session.reserve("1/9", "the session that charged remembers")

    @pytest.mark.parametrize("more", [("1/9",), ("1/9", "1/9")])
    def test_an_open_session_knows_charges_that_were_put_back_and_written_anew(self, path, more):
        """As many charges as it has seen, or more: 1/3 of what was spent would be spent again."""
        session = with_charges(path, "1/2")
        copies = {file: file.read_bytes() for file in path.parent.iterdir()}
        session.reserve("1/3", "later")
        for file, data in copies.items():
            file.write_bytes(data)
        with_charges(path, *more)
        for ask in (lambda: session.spent, lambda: session.reserve("1/9", "next")):
            with pytest.raises(pds.BudgetError, match="this session knows of it don't belong toge"):
                ask()

    @pytest.mark.parametrize("content", [b"", b"[]\n", b'{"charges": 1}\n', b"\xff", b"[" * 900])
    def test_a_second_file_of_another_kind_is_refused(self, path, content):
        with_charges(path, "1/2")
        path.with_name("account.jsonl.last").write_bytes(content)
        with pytest.raises(pds.BudgetError, match="account.jsonl.last is not as a session writes"):
            Session(2, path)

    def test_an_account_is_continued_where_its_second_file_stayed_behind(self, path):
        with_charges(path, "1/2")
        path.with_name("account.jsonl.last").unlink()
        Session(2, path).reserve("1/3", "elsewhere")
        assert Session(2, path).spent == Q(5, 6)

    def test_the_file_appears_with_the_first_charge(self, path):
        """A refusal leaves nothing behind, and a path with a slip makes no folder."""
        session = Session(1, path)
        with pytest.raises(pds.BudgetError, match="overdraft"):
            session.reserve(2, "too much")
        assert not any(path.parent.iterdir())
        with pytest.raises(pds.BudgetError, match="folder of the account a.jsonl isn't there"):
            Session(1, path.parent / "slip" / "a.jsonl")
        with pytest.raises(pds.BudgetError, match="is no file, so no account"):
            Session(1, path.parent)
        with pytest.raises(pds.SchemaError, match="NUL"):
            Session(1, "a\0b")
        assert not any(path.parent.iterdir())

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
    def test_a_pipe_isnt_waited_for_and_nothing_is_charged_to_what_keeps_nothing(self, path):
        os.mkfifo(path)
        for place in (path, Path(os.devnull)):
            for use in (lambda p: Session(1, p), Session.open):
                with pytest.raises(pds.BudgetError, match="is no file, so no account"):
                    use(place)

    def test_two_hard_links_would_be_two_locks(self, path):
        session = with_charges(path, "1/2")
        second = path.with_name("second.jsonl")
        os.link(path, second)
        for use in (
            lambda: session.spent,
            lambda: Session(2, second),
            lambda: Session.open(second),
        ):
            with pytest.raises(pds.BudgetError, match="has 2 names"):
                use()
        path.with_name("second.jsonl").unlink()
        session.reserve("1/3", "s")

    def test_twin_two_names_are_locked_apart(self, path, monkeypatch):
        with_charges(path, "1/2")
        os.link(path, path.with_name("second.jsonl"))
        monkeypatch.setattr(session_room, "_count_names", lambda _: 1)
        monkeypatch.setattr(session_room, "PATIENCE", 0)
        with FileLock(f"{path}.lock"):
            Session(2, path.with_name("second.jsonl")).reserve(1, "nobody was waited for")

    def test_whoever_has_another_lock_takes_no_charge_away(self, path, monkeypatch):
        """As where the lock's file was removed, or two containers share the account alone."""
        session, append = with_charges(path, "1/2"), session_room._append

        def late(*args):
            monkeypatch.setattr(session_room, "_append", append)
            Path(f"{path}.lock").unlink()
            Session(2, path).reserve(1, "another process")
            append(*args)

        monkeypatch.setattr(session_room, "_append", late)
        with pytest.raises(pds.BudgetError, match=r"wrote account.jsonl under .* Nothing was ch"):
            session.reserve(1, "an overdraft by now")
        assert [c.step for c in Session(2, path).charges] == ["step 1", "another process"]
        session.reserve("1/2", "what is left")
        assert session.remaining == 0

    @pytest.mark.skipif(os.name != "posix", reason="Windows locks what is read, too")
    def test_an_account_that_is_being_written_is_left_alone(self, path):
        session = with_charges(path, "1/2")
        with open(path, "rb") as file:
            lock_descriptor(file.fileno())
            with pytest.raises(pds.BudgetError, match="under another lock"):
                session.reserve(1, "s")
        session.reserve(1, "s")
        assert session.spent == Q(3, 2)

    def test_the_format_before_is_named(self, path):
        path.write_text('{"format": "pdsynth-session-1", "epsilon": "2"}\n')
        with pytest.raises(pds.BudgetError, match="'pdsynth-session-1', and this version reads"):
            Session(2, path)

    @pytest.mark.parametrize("content", ["age,sex\n34,f\n", "a note without a line's end", "{}\n"])
    def test_a_file_of_another_kind_is_refused_and_left_alone(self, path, content):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(pds.BudgetError, match=r"no account|damaged"):
            Session(2, path)
        assert path.read_text(encoding="utf-8") == content

    @pytest.mark.parametrize(
        "damage",
        [
            lambda lines: [lines[0], *lines[2:]],
            lambda lines: [lines[0], lines[2], lines[1], lines[3]],
            lambda lines: [*lines, lines[1]],
            lambda lines: [lines[0], "", *lines[1:]],
            lambda lines: [*lines, '{"charge": 4}'],
            lambda lines: [*lines, "[]"],
            lambda lines: [*lines[:3], lines[3].replace('"1/6"', '"-1/6"')],
            lambda lines: [*lines[:3], lines[3].replace('"1/6"', '"1/0"')],
            lambda lines: [*lines[:3], lines[3].replace('"1/6"', '"0"')],
            lambda lines: [*lines[:3], lines[3].replace('"1/6"', '"1e999999999"')],
            lambda lines: [*lines[:3], lines[3].replace('"1/6"', "0.1")],
            lambda lines: [*lines[:3], lines[3].replace('"1/6"', '"' + "9" * 10**6 + '"')],
            lambda lines: [*lines, "[" * 10**5],
            lambda lines: [*lines[:3], lines[3].replace('"1/6"', '"1/7"')],
            lambda lines: [*lines[:3], lines[3].replace('"1/6"', '"1/6", "epsilon": "1/6"')],
            lambda lines: [*lines[:3], lines[3].replace('"1/6"', '"1/600", "epsilon": "1/6"')],
            lambda lines: [*lines[:3], lines[3].replace('"1/6"', ' "1/6"')],
            lambda lines: [*lines[:2], lines[2].replace("step 2", "step X"), lines[3]],
        ],
    )
    def test_a_damaged_account_permits_nothing(self, path, damage):
        session = with_charges(path, "1/2", "1/3", "1/6")
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join(damage(lines)) + "\n", encoding="utf-8")
        for use in (lambda: session.spent, lambda: session.reserve("1/9", "s")):
            with pytest.raises(pds.BudgetError, match=r"line \d of account.jsonl .* damaged"):
                use()
        with pytest.raises(pds.BudgetError, match="damaged"):
            Session(2, path)

    def test_twin_without_hashes_a_changed_line_is_read(self, path):
        """The same damage where the hashes were written anew: nothing in the files tells of it."""
        other = path.with_name("other.jsonl")
        with_charges(path, "1/2", "1/3")
        with_charges(other, "1/2", "1/9")
        for name in ("", ".last"):
            path.with_name(f"account.jsonl{name}").write_bytes(
                path.with_name(f"other.jsonl{name}").read_bytes()
            )
        assert Session(2, path).spent == Q(11, 18)

    @pytest.mark.parametrize("files", [1, 3])
    def test_an_account_that_is_gone_permits_nothing(self, path, files):
        session = with_charges(path, 1)
        for file in [path, *path.parent.glob("account.jsonl.*")][:files]:
            file.unlink()
        with pytest.raises(pds.BudgetError, match="is gone"):
            session.reserve(1, "s")
        assert not path.exists()

    def test_numbers_of_charges_and_bytes_are_bounded(self, path, monkeypatch):
        monkeypatch.setattr(session_room, "MOST_CHARGES", 3)
        session = with_charges(path, "1/9", "1/9", "1/9")
        with pytest.raises(pds.BudgetError, match="at most 3 charges"):
            session.reserve("1/9", "s")
        monkeypatch.setattr(session_room, "MOST_CHARGES", 2)
        with pytest.raises(pds.BudgetError, match="at most 2 charges"):
            Session(2, path)
        monkeypatch.setattr(session_room, "MOST_CHARGES", 9)
        monkeypatch.setattr(session_room, "MOST_BYTES", path.stat().st_size + 99)
        with pytest.raises(pds.BudgetError, match="nothing was charged"):
            session.reserve("1/9", "s")
        monkeypatch.setattr(session_room, "MOST_BYTES", path.stat().st_size - 1)
        with pytest.raises(pds.BudgetError, match="more than .* bytes"):
            Session(2, path)

    def test_a_fit_of_many_words_is_charged_in_fewer(self):
        session = Session(1)
        names = "x" * 2000, "y", "z"
        schema = pds.Schema([pds.Attribute.categorical(name, [0, 1]) for name in names])
        frame = pd.DataFrame(dict.fromkeys(names, [0, 1] * 500))
        pds.HPPrivBayes(1, k=1, sensitive=names[0]).fit(frame, schema, session=session)
        assert len(session.charges[0].step) == session_room.LONGEST

    @pytest.mark.skipif(not Path("/proc/self").exists(), reason="no folder that takes no file")
    def test_a_lock_that_can_t_be_made_is_not_said_to_be_held(self, monkeypatch):
        """filelock takes the error of such a folder for a race, and tries again."""
        monkeypatch.setattr(session_room, "PATIENCE", 0)
        with pytest.raises(pds.BudgetError, match="or couldn't be made.*nothing was charged"):
            pds.Session(1, "/proc/account.jsonl").reserve(1, "s")

    def test_a_lock_that_somebody_holds_is_waited_for_and_then_refused(self, path, monkeypatch):
        session = with_charges(path, 1)
        monkeypatch.setattr(session_room, "PATIENCE", 0)
        with (
            FileLock(f"{path}.lock"),
            pytest.raises(pds.BudgetError, match="another process.*nothing was charged"),
        ):
            session.reserve(1, "s")
        session.reserve(1, "s")

    @pytest.mark.parametrize("kept", [False, True])
    def test_threads_spend_no_more_than_there_is(self, path, kept):
        session, granted = Session(1, path if kept else None), []

        def spend():
            own = Session(1, path) if kept else session
            for _ in range(5):
                try:
                    granted.append(own.reserve("1/12", "s"))
                except pds.BudgetError:
                    return

        in_threads(spend)
        assert len(granted) == len(session.charges) == 12
        assert session.remaining == 0

    @pytest.mark.parametrize("kept", [False, True])
    def test_threads_wait_for_one_another_between_a_look_and_a_charge(
        self, path, kept, monkeypatch
    ):
        session, spent, granted = Session(1, path if kept else None), session_room._spent, []

        def slowly(charges, people):
            time.sleep(0.01)  # so that all have looked before one has charged
            return spent(charges, people)

        def spend():
            with suppress(pds.BudgetError):
                granted.append(session.reserve(1, "s"))

        monkeypatch.setattr(session_room, "_spent", slowly)
        in_threads(spend)
        assert len(granted) == len(session.charges) == 1

    def test_what_it_shows(self, path):
        session = with_charges(path, "1/2")
        session.group("<b>").reserve("1/4", "x")
        assert repr(session) == "Session(ε = 3/4 of 2 spent, 2 charges, account.jsonl)"
        assert list(session.to_frame()["people"]) == ["everybody", "<b>"]
        assert list(session.to_frame()["epsilon"]) == [Q(1, 2), Q(1, 4)]
        assert "&lt;b&gt;" in session._repr_html_()

    def test_it_is_neither_copied_nor_pickled(self, path):
        """It said "cannot pickle '_thread.lock' object"."""
        for session in (Session(1), with_charges(path, "1/2"), Session(1).group("x")):
            for again in (pickle.dumps, copy.deepcopy):
                with pytest.raises(pds.BudgetError, match="both could spend the same ε"):
                    again(session)

    def test_a_line_of_another_account_does_not_fit_in(self, path):
        """A cheaper second charge, whole and with its own hash, as another account holds it."""
        other = path.with_name("other.jsonl")
        for place, second in ((path, "1/2"), (other, "1/100")):
            for epsilon in ("1/10", second, "1/10"):
                Session(1, place).reserve(epsilon, "a fit")
        lines, cheaper = (place.read_bytes().splitlines(True) for place in (path, other))
        path.write_bytes(b"".join([*lines[:2], cheaper[2], *lines[3:]]))
        with pytest.raises(pds.BudgetError, match="not as a session writes it"):
            Session(1, path)


class TestFits:
    def test_a_fit_is_charged_and_the_next_session_knows(self, path):
        frame, schema = binary()
        synth = pds.PrivBayes("1/3", k=1).fit(frame, schema, session=Session(1, path))
        assert synth.ledger_.epsilon == Q(1, 3)
        session = Session(1, path)
        assert session.spent == Q(1, 3)
        assert session.charges[0].step.startswith("PrivBayes(epsilon='1/3', k=1")
        pds.baselines.Independent("2/3").fit(frame, schema, session=session)
        kept = dict(vars(synth))
        with pytest.raises(pds.BudgetError, match="PrivBayes.*nothing was drawn"):
            synth.fit(frame, schema, session=session)
        assert vars(synth) == kept
        assert Session(1, path).remaining == 0

    @pytest.mark.parametrize("name", ALGORITHMS)
    @pytest.mark.filterwarnings("ignore")
    def test_the_charge_is_on_disk_before_the_first_number_is_drawn(self, name, path, monkeypatch):
        frame, schema = binary()
        events = order_of_events(monkeypatch, path)
        make(name, schema, epsilon=5, k=1).fit(frame, schema, session=Session(9, path))
        assert "drawn" in events
        assert events.index("drawn") > events.index("flushed with 1 charge")
        assert Session(9, path).spent == 5

    def test_twin_a_charge_after_the_fit_is_seen(self, path, monkeypatch):
        frame, schema = binary()
        events, session = order_of_events(monkeypatch, path), Session(9, path)
        pds.PrivBayes(5).fit(frame, schema)
        session.reserve(5, "late")
        assert events.index("drawn") < events.index("flushed with 1 charge")

    def test_a_fit_that_fails_is_not_refunded(self, path, monkeypatch):
        frame, schema = binary()
        session = Session(1, path)
        with monkeypatch.context() as patch:
            patch.setattr(ExactNoise, "zero_sum_laplace", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                pds.baselines.Independent("1/2").fit(frame, schema, session=session)
        assert session.spent == Q(1, 2)

    def test_what_is_refused_from_public_facts_is_not_charged(self, path):
        frame, schema = binary()
        session = Session(1, path)
        for synth, table in (
            (pds.PrivBayes(k=9), frame),
            (pds.PrivBayes(epsilon=1e-30), frame),
            (pds.PrivBayes(), frame.replace("yes", "maybe")),
        ):
            with pytest.raises(ValueError):
                synth.fit(table, schema, session=session)
        assert session.charges == ()

    @pytest.mark.parametrize(
        ("params", "noise"),
        [
            ({"guarantee": "published"}, None),
            ({"guarantee": "none"}, None),
            ({"random_state": 1}, None),
            ({"noise": "common"}, None),
            ({}, ExactNoise(3)),
        ],
    )
    def test_what_no_account_covers_is_refused(self, path, params, noise):
        frame, schema = binary()
        session = Session(1, path)
        with pytest.raises(pds.PrivacyError, match="no account covers it"):
            pds.PrivBayes(**params).fit(frame, schema, noise=noise, session=session)
        assert session.charges == ()

    def test_membership_costs_a_replacement_twice(self):
        frame, schema = binary()
        session = Session(3)
        added = pds.baselines.Independent(1, relation="add_remove")
        assert added.fit(frame, schema, session=session).ledger_.epsilon == 1
        assert session.spent == 2
        with pytest.raises(
            pds.BudgetError, match="to 4 of 3.*an account counts its ε twice, since"
        ):
            added.fit(frame, schema, session=session)
        gauss = pds.ConsistentBayes(1, relation="add_remove", delta=1e-9)
        with pytest.raises(pds.BudgetError, match="counts its ρ four times, since another record"):
            gauss.fit(frame, schema, session=Session(1, delta=1e-9))
        with pytest.raises(pds.BudgetError, match="nothing was drawn for it$"):
            pds.baselines.Independent(2).fit(frame, schema, session=session)

    def test_a_group_is_charged_through_a_fit(self):
        frame, schema = binary()
        session = Session(1)
        for clinic in ("A", "B"):
            pds.PrivBayes(1).fit(frame, schema, session=session.group(clinic))
        assert (session.spent, len(session.charges)) == (1, 2)


def test_a_full_disk_says_that_nothing_was_drawn(path, monkeypatch):
    """Of a line that was cut short nothing counts; a line that is whole counts."""
    session = with_charges(path, "1/2")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    for where, spent in (("_append", Q(1, 2)), ("_write_last", Q(1))):
        with monkeypatch.context() as patch:
            patch.setattr(session_room, where, full)
            with pytest.raises(
                pds.BudgetError, match=r"^account.jsonl couldn't be written \(No sp"
            ):
                session.reserve("1/2", "a step")
        assert Session.open(path).spent == spent


def test_a_folder_that_cant_be_written_to_is_said_in_a_sentence(path, monkeypatch):
    """The lock is the first file that is made there."""

    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied", f"{path}.lock")

    monkeypatch.setattr(FileLock, "acquire", refuse)
    with pytest.raises(pds.BudgetError, match=r"^account.jsonl couldn't be written \(Permission"):
        Session(1, path).reserve("1/2", "a step")
    assert not path.exists()


def order_of_events(monkeypatch, path):
    """What happens from now on: flushes to disk, with the whole lines that stood there; draws."""
    events, fsync, words = [], os.fsync, ExactNoise._words

    def flushed(descriptor):
        fsync(descriptor)
        lines, own = path.read_bytes().count(b"\n"), os.path.samestat
        if own(os.fstat(descriptor), path.stat()):  # the account, and not what stands beside it
            events.append(f"flushed with {lines - 1} charge")

    def drawn(self, size):
        events.append("drawn")
        return words(self, size)

    monkeypatch.setattr(session_room.os, "fsync", flushed)
    monkeypatch.setattr(ExactNoise, "_words", drawn)
    return events


class Telltale(ExactNoise):
    """Writes a mark, straight to a file, before it draws the first number of a fit; ``dies``: kills
    its own process then."""

    def __init__(self, marks, dies=False):
        super().__init__()
        self._marks, self._dies, self._fresh = marks, dies, True

    def _words(self, size):
        if self._fresh:
            self._fresh = False
            os.write(self._marks, b"x")
            if self._dies:
                os.kill(os.getpid(), signal.SIGKILL)
        return super()._words(size)


def child(work, marks):
    """The number of a new process that does some work, and how it ends."""
    number = os.fork()
    if number == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            work(os.open(marks, os.O_WRONLY | os.O_APPEND | os.O_CREAT))
        finally:
            os._exit(0)  # a KeyboardInterrupt ends here, too
    return number


def fit_for_ever(folder, late=False, dies=False):
    """Fits with one session, one after the other; ``late``: they are charged when they are done."""
    frame, schema = binary(d=3, n=30)
    synth = pds.PrivBayes(Q(1, 10), k=1)

    def work(marks):
        session = Session(10**6, folder / "account.jsonl")
        while True:
            synth.fit(frame, schema, noise=Telltale(marks, dies), session=None if late else session)
            if late:
                session.reserve(Q(1, 10), "late")

    return work


def fits_drawn(folder):
    """How many fits have drawn a number."""
    marks = folder / "marks"
    return marks.stat().st_size if marks.exists() else 0


def account(folder):
    """(charges on disk, fits that have drawn a number)."""
    charges = len(Session(10**6, folder / "account.jsonl").charges)
    return charges, fits_drawn(folder)


def kill_at_random(folder, times, late):
    """Kills fits at random moments; prints, for each, the charges and the marks that were left.

    A moment is some fits after the start, however slow the machine is, and a part of the next one.
    """
    Session(10**6, folder / "account.jsonl")
    rng, work = np.random.default_rng(14), fit_for_ever(folder, late)
    frame, schema = binary(d=3, n=30)
    for name in ("first", "second"):  # the first one imports
        start = time.perf_counter()
        pds.PrivBayes(k=1).fit(frame, schema, session=Session(2, folder / name))
        one = time.perf_counter() - start
    for trial in range(times):
        enough = fits_drawn(folder) + int(rng.integers(0, 4))
        number = child(work, folder / "marks")
        while fits_drawn(folder) < enough:
            time.sleep(one / 10)
        time.sleep(float(rng.uniform(0, one)))
        while os.waitpid(number, os.WNOHANG) == (0, 0):  # a hook after the fork ignores the first
            os.kill(number, signal.SIGINT if trial % 2 else signal.SIGKILL)
            time.sleep(0.01)
        print(*account(folder), flush=True)  # else a child that leaves otherwise prints it again


def run_here(folder, *options):
    """This file as a program of its own, which forks without pytest's threads around it."""
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, str(folder), *options],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'tests'}"},
    )
    assert run.returncode == 0, run.stderr
    return [tuple(map(int, line.split())) for line in run.stdout.splitlines()]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a fit is killed in a forked process")
class TestKilled:
    @pytest.mark.slow
    def test_a_fit_that_dies_at_its_first_number_has_been_charged(self, tmp_path):
        assert run_here(tmp_path, "first") == [(1, 1)]

    @pytest.mark.slow
    def test_twin_a_late_charge_is_missing_then(self, tmp_path):
        assert run_here(tmp_path, "first", "late") == [(0, 1)]

    @pytest.mark.slow
    def test_a_fit_killed_at_200_random_moments_is_never_undercharged(self, tmp_path):
        """Half by SIGKILL, half by SIGINT; each time the file is readable and the next goes on."""
        seen = run_here(tmp_path, "200")
        assert len(seen) == 200
        assert all(charges >= drawn for charges, drawn in seen)
        assert seen == sorted(seen), "nothing that was charged is ever gone"
        assert seen[-1][1] > 50, "fits did run"

    @pytest.mark.slow
    def test_twin_random_moments_find_late_charges(self, tmp_path):
        assert any(charges < drawn for charges, drawn in run_here(tmp_path, "40", "late"))


if __name__ == "__main__":
    place, moment, late = Path(sys.argv[1]), sys.argv[2], "late" in sys.argv
    if moment == "first":
        os.waitpid(child(fit_for_ever(place, late, dies=True), place / "marks"), 0)
        print(*account(place))
    else:
        kill_at_random(place, int(moment), late)


@pytest.mark.parametrize(
    ("options", "due"), [({}, Q(1, 2)), ({"relation": "add_remove"}, 2)], ids=["public n", "secret"]
)
def test_an_account_with_delta_takes_the_square_of_what_a_replacement_costs(options, due):
    """A removal and an addition cost 2ε, which is (2ε)²/2 of ρ, also of a level of persons."""
    rows = np.random.default_rng(0).integers(0, 2, (60, 2))
    frame = pd.DataFrame(rows, columns=["a", "b"])
    schema = pds.Schema(tuple(pds.Attribute.categorical(x, [0, 1]) for x in "ab"))
    account = Session(60, delta=1e-9)
    pds.baselines.Independent(1, **options).fit(frame, schema, session=account)
    assert account.spent == due
    if options:
        own = {"person_epsilon": frame["a"].map({0: 0.5, 1: 1.0}).astype("category")}
        pds.baselines.Independent(1, **options).fit(frame, schema, session=account, **own)
        costs = {charge.people.split(" of ")[0]: charge.epsilon for charge in account.charges[1:]}
        assert costs == {"those with ε = 1": 2, "those with ε = 1/2": Q(1, 2)}
