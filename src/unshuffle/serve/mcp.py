"""Tools for agents: ordering, scoring and exercises over the Model Context Protocol, within the service's limits."""

# Annotations are read when a tool is registered, and name limits that are known only then: they must not be strings.

from collections.abc import Callable
from difflib import get_close_matches
from threading import Lock
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from unshuffle import __version__
from unshuffle.errors import MissingExtra, UnshuffleError, one_line
from unshuffle.exercises.exercise import ExerciseOptions, label
from unshuffle.exercises.make import make_exercise as exercise_of
from unshuffle.headline import FAIR, GUESS, SURE
from unshuffle.rank.constraints import Constraints
from unshuffle.serve.complaints import in_words
from unshuffle.serve.cost import check_document_cost, check_request_cost, exercise_cost, order_cost, score_cost
from unshuffle.serve.limits import read_sentences
from unshuffle.serve.settings import Limits
from unshuffle.serve.worker import ordinary
from unshuffle.system.orderer import Orderer
from unshuffle.text.language import language_warnings

try:
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
    from mcp.types import ToolAnnotations
except ImportError:
    raise MissingExtra("The server for agents", "mcp") from None

INSTRUCTIONS = (
    "Puts English sentences, paragraphs or retrieved chunks into the order in which they read coherently. "
    f"Confidence is the expected share of pairs in their right order: below {GUESS} an order is little better than a "
    f"guess, below {FAIR} it is unsure, from {SURE} on it is sure. Sentences are counted from 0."
)
Result = TypeVar("Result")


class OrderedSentences(BaseModel):
    """The sentences in reading order."""

    sentences: Annotated[list[str], Field(description="In reading order.")]
    order: Annotated[list[int], Field(description="Indices of the given sentences in reading order, from 0.")]
    confidence: Annotated[float, Field(description="Expected share of sentence pairs in their right order.")]
    kept: Annotated[bool, Field(description="Whether the given order was left because confidence was too low.")]
    warnings: list[str]


class SuggestedMove(BaseModel):
    """A single move that would improve the order."""

    sentence: Annotated[int, Field(description="Index of the sentence, from 0.")]
    to: Annotated[int, Field(description="Its position afterwards, from 0.")]
    effect: Annotated[str, Field(description="'slightly better' or 'clearly better'.")]


class CoherenceScore(BaseModel):
    """How well sentences read in the order in which they stand."""

    verdict: str
    percentile: Annotated[float, Field(description="Percent of other orders that the model finds less probable.")]
    transitions: Annotated[list[float], Field(description="How well each sentence after the first follows, 0 to 1.")]
    moves: Annotated[list[SuggestedMove], Field(description="Best first; none where no single move would help.")]
    warnings: list[str]


class ScrambledExercise(BaseModel):
    """A scrambled-sentence exercise and its answer."""

    items: Annotated[list[str], Field(description="As the learner sees them.")]
    labels: list[str]
    solution: Annotated[list[str], Field(description="Labels in reading order.")]
    unambiguous: bool
    reason: Annotated[str, Field(description="Why another order reads as well; empty where none does.")]
    difficulty: str
    changes: Annotated[list[str], Field(description="What was changed to make the order clear.")]
    warnings: list[str]


class ToolServer(MCPServer[Any]):
    """Says what went wrong with a call in one line: where, what, what to do."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """What a tool answers."""
        takes = {tool.name: list(tool.input_schema["properties"]) for tool in await self.list_tools()}
        _refuse_unknown(name, list(takes), "tool")
        for argument in arguments:
            _refuse_unknown(argument, takes[name], "argument")
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as error:
            raise UnexpectedToolError(f"{name}: the server failed. Its log says more.") from error.__cause__
        except ToolError as error:
            cause = error.__cause__
            raise ToolError(in_words(cause.errors()) if isinstance(cause, ValidationError) else str(cause)) from None


def _refuse_unknown(name: str, known: list[str], kind: str) -> None:
    if name not in known:
        near = get_close_matches(name[:100], known, 1)
        advice = f"Did you mean '{near[0]}'?" if near else f"Known are: {', '.join(known)}."
        raise ToolError(f"{one_line(name)[:60]}: there is no such {kind}. {advice}")


def make_mcp_server(orderer: Orderer, limits: Limits | None = None) -> MCPServer[Any]:
    """The server; what a tool may be given stands in its schema."""
    most = limits or Limits()
    turn = Lock()  # calls may come at the same time; the model reads one after the other
    server = ToolServer("unshuffle", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    sentence = Annotated[str, Field(min_length=1, max_length=most.characters)]
    some = Field(min_length=1, max_length=most.sentences, description="English sentences or chunks.")
    given = Annotated[list[sentence] | None, some]
    running = Annotated[
        str | None, Field(description="Running text in place of `sentences`; it is split at sentence ends.")
    ]

    def answered(call: Callable[[], Result]) -> Result:
        """What a call gives; the user's errors become the tool's, in one line."""
        try:
            with turn:
                return call()
        except UnshuffleError as error:
            raise ToolError(" ".join(str(error).split())) from None
        except Exception:
            raise
        except BaseException as panic:
            raise ordinary(panic) from panic

    def tool(title: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        hints = ToolAnnotations(title=title, read_only_hint=True, idempotent_hint=True, open_world_hint=False)
        register: Callable[[Callable[..., Any]], Callable[..., Any]] = server.tool(title=title, annotations=hints)
        return register

    @tool("Put sentences in order")
    def order_sentences(
        sentences: given = None,
        text: running = None,
        keep_if_unsure: Annotated[
            Annotated[float, Field(ge=0, le=1)] | Literal["auto"] | None,
            Field(description="Keep the given order below this confidence; `auto`: below the model's own threshold."),
        ] = None,
        sources: Annotated[
            list[str | int | None] | None,
            Field(max_length=most.sentences, description="Of each sentence; those of one source keep their order."),
        ] = None,
    ) -> OrderedSentences:
        """Find the order in which sentences, paragraphs or retrieved chunks read coherently."""

        def call() -> OrderedSentences:
            read = read_sentences(sentences, text, "sentences", most)
            check_document_cost(order_cost(orderer.pieces(read)), most)
            known = Constraints(within_source=tuple(sources)) if sources else None
            found = orderer.order(read, keep_if_unsure=keep_if_unsure, constraints=known, n_best=1)
            return OrderedSentences(
                sentences=list(found.sentences),
                order=list(found.order),
                confidence=round(found.confidence, 4),
                kept=found.kept,
                warnings=list(found.warnings),
            )

        return answered(call)

    @tool("Score coherence")
    def score_coherence(sentences: given = None, text: running = None) -> CoherenceScore:
        """Say how well sentences read in the order in which they stand, and which single moves would help."""

        def call() -> CoherenceScore:
            read = read_sentences(sentences, text, "sentences", most)
            check_document_cost(order_cost(orderer.pieces(read)), most)
            check_request_cost(score_cost(orderer.pieces(read)), most, "Send fewer or shorter sentences.")
            found = orderer.coherence(read)
            return CoherenceScore(
                verdict=found.verdict,
                percentile=round(found.percentile, 2),
                transitions=[round(step.score, 4) for step in found.transitions],
                moves=[SuggestedMove(sentence=move.sentence, to=move.to, effect=move.words) for move in found.moves],
                warnings=list(language_warnings(read)),
            )

        return answered(call)

    @tool("Make an exercise")
    def make_exercise(
        sentences: Annotated[given, Field(min_length=3)] = None,
        text: running = None,
        seed: Annotated[int, Field(ge=0, le=2**31, description="Another seed gives another scramble.")] = 0,
        mend: Annotated[bool, Field(description="Drop or merge sentences until the order is unambiguous.")] = False,
    ) -> ScrambledExercise:
        """Make a scrambled-sentence exercise, with its answer, from sentences in their right order."""

        def call() -> ScrambledExercise:
            read = read_sentences(sentences, text, "sentences", most)
            check_document_cost(order_cost(orderer.pieces(read)), most)
            check_request_cost(
                exercise_cost(orderer.pieces(read), mend=mend), most, "Send fewer sentences, or set mend to false."
            )
            made = exercise_of(orderer, read, ExerciseOptions(seed=seed, mend=mend))
            return ScrambledExercise(
                items=list(made.items),
                labels=[label(item) for item in range(len(made.items))],
                solution=[label(item) for item in made.solution],
                unambiguous=made.unambiguous,
                reason=made.reason,
                difficulty=made.difficulty,
                changes=list(made.changes),
                warnings=list(language_warnings(read)),
            )

        return answered(call)

    return server
