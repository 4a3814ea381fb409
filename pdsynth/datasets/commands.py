"""What ``python -m pdsynth`` does with a file of your own: outline, plan, release, report."""

from collections.abc import Callable, Sequence
from functools import reduce
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from .. import __version__
from .. import synthesizers as methods
from ..domain.schema import Schema
from ..domain.schema_file import read_toml
from ..errors import BudgetError, PrivacyError, SchemaError
from ..evaluation.report import report as make_report
from ..model import Model
from ..privacy.numbers import positive
from ..privacy.session import Session
from ..synthesizers import baselines
from ..synthesizers.base import Recipe
from ..synthesizers.plan import plan as make_plan
from .loaders import EXAMPLES, find
from .outlining import outline as draft
from .own import read_csv, read_header
from .release import KINDS, as_released, check_folder, open_lines, read_reviewed, write_release

METHODS = {
    name: made
    for home in (methods, baselines)
    for name in home.__all__
    if isinstance(made := getattr(home, name), type)
    and issubclass(made, Recipe)
    and made is not methods.Synthesizer
}
TABLES = "synthetic.csv", "synthetic.parquet"
PAGE = (
    "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' "
    "content='width=device-width'><title>Report</title><body style='font-family:sans-serif'>"
    "{}</body></html>"
)


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
            exact = positive("ε", value)
        except BudgetError as mistake:
            self.fail(str(mistake), param, ctx)
        return float(exact) if positive("ε", float(exact)) == exact else exact


class Existing(click.Path):
    """A file that is there; survey.csv and survey.toml, where there are none, are shipped."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Its path."""
        shipped = str(value) in EXAMPLES and not Path(value).exists()
        return super().convert(find(str(value)) if shipped else value, param, ctx)


FILE = Existing(exists=True, dir_okay=False, path_type=Path)
NEW = click.Path(path_type=Path)
DATA = click.argument("data", type=FILE)
EPSILON = click.option(
    "--epsilon",
    type=Epsilon(),
    metavar="ε",
    required=True,
    help="What a person may lose, as 0.5 or 1/2: the smaller, the more private.",
)


def read_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How the raw file is written, where it isn't found out."""
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
            default=0,
            metavar="LINES",
            help="Lines above the table.",
        ),
    )
    return reduce(lambda made, option: option(made), reversed(options), command)


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
        click.echo(text, nl=False)
    else:
        say(
            f"{out} is a draft. Replace every line that says public = false or begins with ?, and "
            "keep it inside until then."
        )


@commands.command()
@DATA
@click.argument("schema", type=FILE)
@EPSILON
@read_options
def plan(data: Path, schema: Path, epsilon: Any, **how: Any) -> None:
    """Say what n records can bear at ε: the method, and how noisy its tables would be.

    Of DATA only the column names and the number of records are read. Costs nothing.
    """
    declared = Schema.read(schema)
    if open_lines(schema):
        say(f"{schema.name} is a draft: its domains aren't public yet, and release will refuse it.")
    found = read_header(data, names=declared.columns or None, **how)
    if gone := [name for name in declared.names if name not in found.names]:
        raise SchemaError(f"missing column(s): {gone}; the file has {', '.join(found.names)}")
    made = make_plan(declared, found.n, epsilon)
    click.echo(f"{made}\n\nRecommended: {made.synthesizer()!r}")
    for table in (made.methods, made.table):
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
@click.option(
    "--records-per-person",
    type=click.IntRange(1),
    default=1,
    metavar="M",
    help="At most so many records are one person's; ε covers all of them.",
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
    "--format",
    "kind",
    type=click.Choice(KINDS),
    default="csv",
    show_default=True,
    help="Of the synthetic table.",
)
@click.option("--rows", type=click.IntRange(1), help="Of it; else as many as there are records.")
@click.option("--title", default="", help="Stands on the card; else the folder's name.")
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
    records_per_person: int,
    account: Path | None,
    session_epsilon: Any,
    kind: str,
    rows: int | None,
    title: str,
    with_report: bool,
    **how: Any,
) -> None:
    """Fit once, and write a folder that may be published: table, model, ledger, schema, card.

    Everything is checked before ε is spent. The folder appears when it is whole; a file that is
    there is never overwritten. What an account was charged stays charged, even if the run fails.
    """
    check_folder(out, kind)
    declared = read_reviewed(schema)
    with tqdm(total=5, disable=None, bar_format="{bar:20} {desc}", leave=False) as bar:

        def step(words: str) -> None:
            bar.set_description_str(words)
            bar.update()

        step("reading")
        frame = read_csv(data, declared, **how)
        step(f"checking {len(frame):,} records")
        if problems := declared.problems(frame):
            raise SchemaError(f"{data.name} doesn't fit {schema.name}:\n{problems}")
        made = choose(method, declared, len(frame), epsilon / records_per_person)
        made.set_params(
            epsilon=epsilon,
            records_per_person=records_per_person,
            **dict(map(parse_option, options)),
        )
        session = open_account(made, declared, len(frame), account, session_epsilon)
        step(f"fitting {type(made).__name__}")
        model = made.fit(frame, declared, session=session).model_
        report = None
        if with_report:
            step("comparing with the real records")
            fake = model.sample(rows, method="balanced")
            report = make_report(frame, fake, declared, epsilon=float(epsilon))
        step("writing")
        write_release(model, out, rows=rows, kind=kind, title=title, session=session, report=report)
    click.echo(
        f"{out}: {model.ledger.verdict()}\nRead {out / 'card.html'} before you publish the folder."
    )


@commands.command()
@DATA
@click.argument("released", type=click.Path(exists=True, path_type=Path))
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
    if out is not None and out.exists():
        raise SchemaError(f"{out.name} exists: name a new file")
    if released.is_dir():
        model = Model.from_json(released / "model.json")
        epsilon = epsilon or float(model.ledger.finite)
        released = next(p for p in map(released.joinpath, TABLES) if p.exists())
    elif schema is None:
        raise click.UsageError("a table needs its SCHEMA; a release's folder holds its own")
    declared = model.schema if schema is None else Schema.read(schema)
    real = read_csv(data, declared, **how)
    fake = read_csv(released, as_released(declared))
    found = make_report(real, fake, declared, epsilon=epsilon, target=target, sensitive=sensitive)
    if out is None:
        click.echo(str(found))
    else:
        out.write_text(PAGE.format(found._repr_html_()), encoding="utf-8")


def say(words: str) -> None:
    """Beside the result, which goes to the standard output."""
    click.echo(words, err=True)


def choose(method: str | None, schema: Schema, n: int, epsilon: Any) -> Recipe:
    """The synthesizer of that name, or the recommended one; hardened samplers where there are."""
    made = METHODS[method]() if method else make_plan(schema, n, epsilon).synthesizer()
    return made.set_params(noise="opendp" if find_spec("opendp") else "exact")


def parse_option(text: str) -> tuple[str, Any]:
    """k=2 and protect=true as in TOML, everything else as text."""
    name, sign, value = text.partition("=")
    if not sign:
        raise click.UsageError(f"--set {text}: say NAME=VALUE, as sensitive=occupation")
    try:
        return name, read_toml(f"value = {value}", text)["value"]
    except SchemaError:
        return name, value


def open_account(
    made: Recipe, schema: Schema, n: int, path: Path | None, total: Any
) -> Session | None:
    """The session's file, after all checks: a run that is refused leaves no new one."""
    if made.guarantee != "strict" or made.noise == "common" or made.random_state is not None:
        raise PrivacyError(
            f"{made!r}: a release is strict and its noise can't be drawn again; "
            "leave out guarantee, random_state and noise='common'"
        )
    made.public_facts(schema, n)
    if path is None:
        if total is not None:
            raise click.UsageError("--session-epsilon needs --session FILE")
        return None
    if path.exists() and total is None:
        return Session.open(path)
    if total is None:
        raise click.UsageError(
            f"{path.name} isn't there: say --session-epsilon, what these people may lose in all"
        )
    if positive("ε", total) < positive("ε", made.epsilon):
        raise BudgetError(f"an account of ε = {total} can't pay for ε = {made.epsilon}")
    return Session(total, path)
