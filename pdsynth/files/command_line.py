"""What ``python -m pdsynth`` does with a file of your own: outline, plan, release, report."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from .. import __version__, baselines
from ..answers import count_held
from ..core import (
    MOST_RECORDS,
    NEIGHBOURS,
    BudgetError,
    Model,
    PrivacyError,
    Recipe,
    Schema,
    SchemaError,
    needed_for,
    positive,
    show,
)
from ..datasets.loaders import EXAMPLES, find
from ..evaluation.pictures import draw_page
from ..evaluation.report import report as make_report
from ..planning import plan as make_plan
from .asking import parse_answers, parse_options
from .card import ABOUT, check_about
from .cells import STRANGE
from .opening import NoRows
from .outlining import outline as draft
from .reading import Header, no_records, read_csv, read_header
from .release import (
    KINDS,
    as_released,
    check_folder,
    check_model,
    check_page,
    check_rows,
    check_title,
    draft_folder,
    fill,
    most_rows,
    open_lines,
    open_release,
    publish,
    read_reviewed,
    rehearse,
    telling,
    write_card,
)
from .session import Session, files_of
from .spoken import report_in_options
from .story import say_counted
from .writing import naming

with needed_for("the command line"):
    import click


METHODS = {name: method for name, method in baselines.METHODS.items() if name != "Synthesizer"}
HELP = """From a table of your own to a private release, in four steps.

\b
1  outline data.csv --out schema.toml       a draft: review every line
2  plan data.csv schema.toml --epsilon 1    what to expect; costs nothing
3  release data.csv schema.toml --epsilon 1 --out folder
4  report data.csv folder                   worth having? For your eyes only

To try it, survey.csv and survey.toml are there: a messy file, and its reviewed schema.
"""
STATUS = (
    "Exit status: 0 done; 1 refused or failed, and nothing was written; 2 mistaken words; "
    "130 interrupted. COMMAND --help says more."
)


class Epsilon(click.ParamType):
    """0.5 as a float, 1/3 as a fraction: either is exact."""

    name = "ε"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The number; a mistaken one is a mistaken word of the command."""
        try:
            exact = positive(getattr(param, "metavar", None) or self.name, value)
        except BudgetError as mistake:
            self.fail(str(mistake), param, ctx)
        return float(exact) if positive("ε", float(exact)) == exact else exact


class Place(click.Path):
    """A path that a file can have."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The path; a mistaken one is a mistaken word of the command."""
        if not str(value) or "\0" in str(value):
            self.fail("a path can't be empty and can't hold the sign NUL", param, ctx)
        return super().convert(value, param, ctx)


class Existing(Place):
    """A file that is there; survey.csv and survey.toml, where there are none, are shipped."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Its path."""
        shipped = str(value) in EXAMPLES and not Path(value).exists()
        place = super().convert(find(str(value)) if shipped else value, param, ctx)
        if not place.is_file():
            self.fail(f"{place} is no file but a pipe, which is read once: save it first")
        return place


FILE = Existing(exists=True, dir_okay=False, path_type=Path)
NEW = Place(path_type=Path)
DATA = click.argument("data", type=FILE)
EPSILON = click.option(
    "--epsilon",
    type=Epsilon(),
    metavar="ε",
    required=True,
    help="What a person may lose, as 0.5 or 1/2: the smaller, the more private.",
)
EXPECTED = click.option(
    "--expected-records",
    "expected",
    type=click.IntRange(1, MOST_RECORDS),
    metavar="N",
    help="A guess of their number from public knowledge, to choose the method by instead of "
    "the number itself, which relation=add_remove keeps secret.",
)
DELTA = click.option(
    "--delta",
    type=Epsilon(),
    metavar="δ",
    help="As 1e-9: (ε, δ) with Gaussian noise, NOT pure. Left out: pure ε.",
)
RELATION = click.option(
    "--relation",
    type=click.Choice([*NEIGHBOURS]),
    help="How neighbours differ: replace_one, or add_remove, where their number is secret.",
)


def read_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How the raw file is written, where its schema doesn't say it, or for outline to find out."""
    options = (
        click.option("--delimiter", metavar="SIGN", help="What separates cells."),
        click.option("--encoding", metavar="NAME", help="As utf-8 or cp1252."),
        click.option(
            "--header/--no-header",
            default=None,
            help="Whether its first line names the "
            "columns; without it the schema's columns = [...] do.",
        ),
        click.option(
            "--skip",
            type=click.IntRange(0),
            metavar="LINES",
            help="Lines above the table.",
        ),
    )
    return reduce(lambda function, option: option(function), reversed(options), command)


@click.group(help=HELP, epilog=STATUS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(version)s")
def commands() -> None:
    """What stands in HELP."""


@commands.command()
@DATA
@click.option(
    "--names", help='Of all columns, for a file without a header: "age sex income", or with commas.'
)
@click.option("--number", metavar="FORM", help="How numbers are written: 1,234.5 or 1.234,5.")
@read_options
@click.option("--out", type=NEW, metavar="FILE", help="Where to write it; else it is printed.")
def outline(data: Path, names: str | None, out: Path | None, **how: Any) -> None:
    """Draft a schema file for DATA, to be reviewed line by line.

    DATA is CSV (packed or not), Parquet, Arrow or Excel. Every value is read: the draft is as
    secret as the records until you have replaced what stands there by public knowledge.
    """
    cut = "," if names and "," in names else None
    listed = [name.strip() for name in names.split(cut)] if names else None
    text = draft(data, out, names=listed, **how)
    if out is None:
        click.echo(text.encode(), nl=False)  # a schema file is in UTF-8
    else:
        say(
            f"{out} is a draft. Replace every line that says public = false or begins with ?, and "
            "keep it inside until then."
        )


@commands.command()
@DATA
@click.argument("schema", type=FILE)
@click.option("--epsilon", type=Epsilon(), metavar="ε", help="What a person may lose, as 0.5.")
@click.option(
    "--distance",
    type=float,
    metavar="D",
    help="The way back: the least ε whose expected two-way distance is at most that, as 0.05.",
)
@EXPECTED
@RELATION
@DELTA
@read_options
def plan(
    data: Path,
    schema: Path,
    epsilon: Any,
    distance: float | None,
    expected: int | None,
    relation: str | None,
    delta: Any,
    **how: Any,
) -> None:
    """Say what n records can bear at ε: the method, and how noisy its tables would be.

    Or, with --distance in place of --epsilon, which ε a distance takes. Of DATA only the column
    names and the number of records are read. Costs nothing. Where the number of records is secret
    (--relation add_remove), --expected-records says a guess of it, which is taken instead.
    """
    if (epsilon is None) == (distance is None):
        raise click.UsageError("say one of --epsilon and --distance")
    if relation == "add_remove" and expected is None:
        raise click.UsageError(
            "with --relation add_remove the number of records is secret: say --expected-records N, "
            "a guess from public knowledge"
        )
    declared = Schema.read(schema)
    if open_lines(schema):
        say(f"{schema.name} is a draft: its domains aren't public yet, and release will refuse it.")
    try:
        header = read_header(data, declared, **how)
    except NoRows as none:
        if relation != "add_remove":
            raise
        header = Header(none.names, 0, "", "")
    columns = declared.find_columns(header.names)
    if gone := [name for name in columns if name not in header.names]:
        names = ", ".join(header.names)
        encoding = f"; names aren't in {header.encoding}: say --encoding, as cp1252"
        words = f"missing column(s): {gone}; the file has {names}"
        raise SchemaError(words + encoding * (STRANGE in names))
    n, unit = expected or header.n, relation or "replace_one"
    planned = make_plan(declared, n, epsilon, distance=distance, relation=unit, delta=delta)
    click.echo(f"{planned}\n\n{planned.advice}: {planned.synthesizer()!r}")
    for table in (planned.methods, planned.table):
        click.echo("\n" + table.to_string(index=False, float_format="{:.3g}".format))


@commands.command()
@DATA
@click.argument("schema", type=FILE)
@EPSILON
@click.option("--out", type=NEW, required=True, metavar="FOLDER", help="A new folder.")
@click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    metavar="NAME",
    help=f"{', '.join(METHODS)}; else the one that plan recommends.",
)
@click.option(
    "--set",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the method, as sensitive=occupation or k=2; may be repeated.",
)
@EXPECTED
@RELATION
@click.option(
    "--records-per-person",
    type=click.IntRange(1),
    default=1,
    metavar="M",
    help="At most so many records are one person's; ε covers all of them. plan foretells it "
    "at ε ÷ M.",
)
@click.option(
    "--session",
    "account",
    type=NEW,
    metavar="FILE",
    help="The account of these people, which is charged before noise is drawn.",
)
@click.option(
    "--session-epsilon", type=Epsilon(), metavar="ε", help="What a new account holds in all."
)
@click.option(
    "--session-delta", type=Epsilon(), metavar="δ", help="Of a new account that isn't pure."
)
@DELTA
@click.option(
    "--format",
    "kind",
    type=click.Choice(KINDS),
    default="csv",
    show_default=True,
    help="Of the synthetic table.",
)
@click.option(
    "--rows",
    type=click.IntRange(1),
    help="Of it; else as many as there are records (with relation=add_remove: about as many), "
    "and ten million at most.",
)
@click.option("--title", default="", help="Stands on the card; else the folder's name.")
@click.option(
    "--about",
    "answers",
    multiple=True,
    metavar="KEY=TEXT",
    help=f"What you answer for on the card, by {', '.join(ABOUT)} (who chose it, and why); may be "
    "repeated. What is left out has a line to write on.",
)
@click.option(
    "--with-report",
    is_flag=True,
    help="Put distances from the real records on the card: not covered by ε, and said so there.",
)
@read_options
def release(
    data: Path,
    schema: Path,
    epsilon: Any,
    out: Path,
    method: str | None,
    options: Sequence[str],
    expected: int | None,
    relation: str | None,
    records_per_person: int,
    account: Path | None,
    session_epsilon: Any,
    session_delta: Any,
    delta: Any,
    kind: str,
    rows: int | None,
    title: str,
    answers: Sequence[str],
    with_report: bool,
    **how: Any,
) -> None:
    """Fit once, and write a folder that may be published: table, model, ledger, schema, card.

    Everything is checked, and the folder is written once on trial, before ε is spent. The folder
    appears when it is whole; a file that is there is never overwritten. What an account was charged
    stays charged, even if the run fails.
    """
    place = check_folder(out, kind)
    title, about = check_title(title or place.name), check_about(parse_answers(answers))
    facts: dict[str, Any] = {"title": title, "about": about}
    rows = check_rows(rows, declared := read_reviewed(schema))
    parameters = parse_options(options, relation)
    hidden = parameters.get("relation") == "add_remove"  # how many records there are
    no_bar = sys.stderr is None or None  # None: on a terminal alone
    with (
        draft_folder(place) as draft,
        tqdm(total=5, disable=no_bar, bar_format="{bar:20} {desc}", leave=False) as bar,
    ):

        def step(words: str) -> None:
            bar.set_description_str(words)
            bar.update()

        frame = read_fitting(data, schema, declared, step, empty=hidden, **how)
        public = expected or (None if hidden else len(frame))
        method = method or (delta and "ConsistentBayes")  # nothing else takes a δ
        synthesizer = choose(method, declared, public, epsilon / records_per_person, parameters)
        synthesizer.set_params(epsilon=epsilon, records_per_person=records_per_person, delta=delta)
        check_releasable(synthesizer)
        synthesizer.prepare(declared, len(frame))
        warn_of_noise(declared, public, epsilon / records_per_person, synthesizer)
        session = find_account(synthesizer, account, session_epsilon, session_delta, out)
        rehearse(
            draft,
            declared,
            algorithm=type(synthesizer).__name__,
            parameters={k: v for k, v in synthesizer.get_params().items() if k != "random_state"},
            ledger=replace(synthesizer.open_ledger(), public_attributes=declared.names),
            rows=rows or min(public or 1, most_rows(declared)),
            kind=kind,
            session=session,
            **facts,
        )
        step(f"fitting {type(synthesizer).__name__}")
        model = synthesizer.fit(frame, declared, session=session).model_
        step("writing")
        check_model(model)
        rows = rows or min(model.n, most_rows(declared))
        table = model.sample(rows)
        with telling(account):
            fill(draft, model, table, kind=kind, session=session, **facts)
            place = publish(draft, place)
        facts |= {"rows": rows, "session": session}
        if with_report:
            step("comparing with the real records")
            add_comparison(place, model, frame, table, facts)
    tell_released(out.with_name(place.name), model)


def read_fitting(
    data: Path, file: Path, schema: Schema, step: Callable[[str], None], *, empty: bool, **how: Any
) -> pd.DataFrame:
    """The records of a table, all of which fit the schema of a file; ``empty``: or none."""
    step("reading")
    try:
        frame = read_csv(data, schema, **how)
    except NoRows as none:
        if not empty:
            raise
        return no_records(schema, none.names)
    step("checking the records")
    if problems := schema.problems(frame):
        raise SchemaError(f"{data.name} doesn't fit {file.name}:\n{problems}")
    return frame


def read_named(path: Path, schema: Schema, **how: Any) -> pd.DataFrame:
    """A table, where there are two: a refusal says which."""
    try:
        return read_csv(path, schema, **how)
    except SchemaError as problem:
        raise SchemaError(f"{path.name}: {problem}") from None


def warn_of_noise(schema: Schema, n: int | None, epsilon: Any, fit: Any) -> None:
    """Say that a release will be noise, where the plan says so. A function of public facts."""
    if n is None or len(schema) < 2:
        return
    planned = make_plan(schema, n, epsilon, relation=fit.relation, delta=fit.delta)
    if planned.drowned:
        click.echo(f"Warning: {planned}", err=True)


def tell_released(place: Path, model: Model) -> None:
    """What the release promises and holds, and what to do next."""
    said, kept = model.ledger.verdict(), model.ledger.pairs_kept(bool(model.schema.rules))
    words = f"{place}: {said}\n{kept}.\nRead {place / 'card.html'} before you publish the folder."
    try:
        click.echo(words)
    except OSError:  # a full disk, or a pipe that nobody reads: the release is there all the same
        say(words)


@commands.command()
@DATA
@click.argument("released", type=Place(exists=True, path_type=Path))
@click.argument("schema", type=FILE, required=False)
@click.option(
    "--epsilon", type=Epsilon(), metavar="ε", help="What the release cost; a folder says it itself."
)
@click.option("--target", metavar="COLUMN", help="What a classifier predicts.")
@click.option("--sensitive", metavar="COLUMN", help="What an attacker wants to find out.")
@click.option("--out", type=NEW, metavar="FILE", help="A new page (HTML); else text is printed.")
@read_options
def report(
    data: Path,
    released: Path,
    schema: Path | None,
    epsilon: Any,
    target: str | None,
    sensitive: str | None,
    out: Path | None,
    **how: Any,
) -> None:
    """Compare the records in DATA with RELEASED: a release's folder, or a table with its SCHEMA.

    Every number is read off the real records and covered by no ε: never publish it, and don't
    choose between releases by it.
    """
    if out is not None:
        check_page(out, released)
    ledger = model = None
    if released.is_dir():
        if epsilon is not None:
            raise click.UsageError("a release's folder says what it cost: leave out --epsilon")
        model, released = open_release(released)
        ledger, epsilon = model.ledger, float(model.ledger.epsilon)
    elif schema is None:
        raise click.UsageError("a table needs its SCHEMA; a release's folder holds its own")
    declared = model.shown if model and schema is None else Schema.read(schema)  # type: ignore[arg-type]
    real = read_named(data, declared, **how)
    fake = read_named(released, as_released(declared))
    said = {"epsilon": epsilon, "target": target, "sensitive": sensitive}
    comparison = report_in_options(make_report(real, fake, declared, **said, ledger=ledger), said)
    if model is not None and model.measured:
        hits, total = count_held(model, model.shown.encode(real[list(model.shown.names)]))
        words = (
            f"Of {total:,} measured counts, the 90 % intervals of {hits:,} hold the real number "
        )
        comparison = replace(
            comparison, verdict=(*comparison.verdict, f"{words}({hits / total:.1%}).")
        )
    if out is None:
        click.echo(str(comparison))
    else:
        page = draw_page(comparison, real, fake, declared, f"{released.name} beside {data.name}")
        with naming(out):
            out.write_text(page, encoding="utf-8", errors="backslashreplace", newline="\n")
        say(f"{out} reads the real records exactly: never publish it.")


def say(words: str) -> None:
    """Beside the result, which goes to the standard output."""
    click.echo(words, err=True)


def choose(
    method: str | None, schema: Schema, n: int | None, epsilon: Any, parameters: dict[str, Any]
) -> Recipe:
    """The synthesizer of that name, or the recommended one; hardened samplers where there are.

    ``n``: a public number of records, None where there is none.
    """
    noise = {"noise": "opendp" if find_spec("opendp") else "exact"}
    if method:
        return METHODS[method]().set_params(**noise | parameters)
    if n is None:
        raise click.UsageError(
            "with relation=add_remove the number of records is secret, so it can't choose the "
            "method: say --method NAME, or --expected-records N, a guess from public knowledge"
        )
    relation = {k: v for k, v in parameters.items() if k == "relation"}
    synthesizer = make_plan(schema, n, epsilon, **relation).synthesizer()
    return synthesizer.set_params(**noise | parameters)


def check_releasable(synthesizer: Recipe) -> None:
    """Refuse whatever makes a release that no ε covers."""
    choices = {name: getattr(synthesizer, name) for name in ("guarantee", "noise", "random_state")}
    if (
        choices["guarantee"] != "strict"
        or choices["noise"] == "common"
        or choices["random_state"] is not None
    ):
        words = ", ".join(f"{name} = {show(value)}" for name, value in choices.items())
        raise PrivacyError(
            f"{words}: a release is strict and its noise can't be drawn again; leave out "
            "guarantee, random_state and noise=common"
        )


def find_account(
    synthesizer: Recipe, path: Path | None, total: Any, delta: Any, out: Path
) -> Session | None:
    """The session's file, which a run that is refused neither makes nor changes."""
    if path is None:
        if total is not None or delta is not None:
            raise click.UsageError("--session-epsilon and --session-delta need --session FILE")
        return None
    if out.resolve() in files_of(path):
        raise click.UsageError(f"--out {out} is a file of the account: name another folder")
    if total is None and not path.exists():
        raise click.UsageError(
            f"{path.name} isn't there: say --session-epsilon, what these people may lose in all"
        )
    session = Session.open(path) if total is None else Session(total, path, delta=delta)
    cost = session.price(ledger := synthesizer.open_ledger())
    if session.remaining < cost:
        raise BudgetError(
            f"overdraft: the account has {session.sign} = {session.remaining} of "
            f"{session.remaining + session.spent} left, and can't pay for {cost}; nothing was drawn"
            f"{say_counted(ledger)}"
        )
    return session


def add_comparison(
    place: Path, model: Model, frame: Any, table: pd.DataFrame, facts: dict[str, Any]
) -> None:
    """Put a comparison with the records on the card of a release, which is there in any case.

    ``table``: the rows that were released; ``facts``: what :func:`write_card` takes.

    **Privacy:** reads the records exactly, outside ε; the card says so.
    """
    try:
        ledger = model.ledger
        comparison = make_report(
            frame, table, model.schema, epsilon=float(ledger.epsilon), ledger=ledger
        )
        write_card(place, model, report=comparison, **facts)
    except Exception as problem:
        words = str(problem) if isinstance(problem, (SchemaError, BudgetError)) else ""
        say(
            f"note: the release is whole, but its card has no comparison: {type(problem).__name__} "
            f"{words}"
        )
