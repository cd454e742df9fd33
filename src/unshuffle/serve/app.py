"""The service: routes, page, and the layers around them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import Response

from unshuffle.errors import UnshuffleError
from unshuffle.serve.access import Bearer, KnownHost
from unshuffle.serve.answers import answer, problem
from unshuffle.serve.batching import Batcher
from unshuffle.serve.body import BoundedBody
from unshuffle.serve.complaints import complaint
from unshuffle.serve.contract import ServedModel
from unshuffle.serve.fairness import Busy, TooSlow
from unshuffle.serve.files import page_files
from unshuffle.serve.logs import log
from unshuffle.serve.metrics import CONTENT_TYPE, Meters
from unshuffle.serve.observe import Observe
from unshuffle.serve.routes import Routes
from unshuffle.serve.schemas import HealthAnswer
from unshuffle.serve.settings import Settings


def make_app(model: ServedModel, settings: Settings | None = None, others: Sequence[ServedModel] = ()) -> FastAPI:
    """The service as an ASGI application; requests for an order may name one of `others`."""
    settings = settings or Settings()
    meters = Meters()
    batcher = Batcher(model, settings.batching, meters)
    routes = Routes(model, batcher, settings, others)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        batcher.start()
        log("started", model=model.name, host=settings.host, port=settings.port, token=settings.token is not None)
        yield
        await batcher.close()
        log("stopped")

    app = FastAPI(
        title="unshuffle",
        summary="Puts sentences into their coherent order.",
        lifespan=lifespan,
        # FastAPI's own documentation pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        middleware=[
            Middleware(Observe, meters=meters, paths=routes.posted),
            Middleware(KnownHost, settings=settings),
            Middleware(Bearer, token=settings.token),
            Middleware(
                BoundedBody, paths=routes.posted, most=settings.limits.bytes, seconds=settings.connections.body_seconds
            ),
        ],
    )
    app.state.batcher = batcher
    app.include_router(routes.router)
    _add_page(app)
    _add_problems(app)

    @app.get("/healthz", response_model=HealthAnswer)
    async def health() -> Response:
        """Say whether the service takes requests."""
        status = "stopping" if batcher.stopping else "ok" if batcher.alive else "failed"
        return answer({"status": status}, 200 if status == "ok" else 503)

    @app.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """Give all counters in Prometheus' text format."""
        return Response(meters.text(), headers={"content-type": CONTENT_TYPE})

    return app


def _add_page(app: FastAPI) -> None:
    files = page_files()

    @app.get("/", include_in_schema=False)
    async def index(request: Request) -> Response:
        return files["index.html"].answer(request)

    @app.get("/page/{name}", include_in_schema=False)
    async def file(name: str, request: Request) -> Response:
        if name not in files:
            raise HTTPException(404)
        return files[name].answer(request)


def _add_problems(app: FastAPI) -> None:
    def number(request: Request) -> str:
        return str(request.state.request)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return problem(422, complaint(error.errors(), request.scope["path"]), number(request))

    @app.exception_handler(UnshuffleError)
    async def refused(request: Request, error: UnshuffleError) -> Response:
        return problem(422, str(error), number(request))

    @app.exception_handler(Busy)
    async def busy(request: Request, error: Busy) -> Response:
        return problem(503, f"queue: {error}", number(request), {"retry-after": str(error.retry_after)})

    @app.exception_handler(TooSlow)
    async def slow(request: Request, error: TooSlow) -> Response:
        return problem(504, f"time: {error}", number(request))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        allowed = " or ".join(Headers(error.headers).get("allow", "another").split(", "))
        message = {
            404: "path: there is no such address. GET /openapi.json lists them all.",
            405: f"method: it is not allowed at this address. Use {allowed}.",
        }.get(error.status_code, error.detail)
        return problem(error.status_code, message, number(request), error.headers)
