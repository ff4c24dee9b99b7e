"""The application: routes, errors, and what all requests share."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from farthest import metrics
from farthest.documents.figures import registry_of
from farthest.errors import FarthestError
from farthest.web.api_routes import API, LOOK_SECONDS, Feeds, json_answer
from farthest.web.asking import BODY_SECONDS, ReaderLeftError, RefusalError, answered, status_and_message
from farthest.web.change_routes import CHANGES, LocalJobs
from farthest.web.file_routes import AT_ONCE, FILES, NOT_SMALLER
from farthest.web.gate import SIGN_IN, Gate, WebSettings
from farthest.web.page import message_page, static_files, version
from farthest.web.page_routes import PAGES
from farthest.web.shelf import Shelf, shelf_of
from farthest.web.solving import Solvings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from farthest.models.database import Database

_LOG = logging.getLogger(__name__)

METRICS = "/metrics"
THREADS = 8
"""Questions that are answered at the same time."""

TITLES = {
    400: "Not understood",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Not possible here",
    408: "Too slow",
    413: "Too large",
    421: "Another server",
    503: "Not now",
}


def application(
    database: Database,
    settings: WebSettings,
    *,
    look_seconds: float = LOOK_SECONDS,
    body_seconds: float = BODY_SECONDS,
) -> Gate:
    """The ASGI application; it closes the database at its end. ``look_seconds``: how often a job that is followed is
    looked at. ``body_seconds``: how long a body may take to come."""
    shelf = Shelf(database)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.threads = anyio.CapacityLimiter(THREADS)
        app.state.downloads = anyio.CapacityLimiter(AT_ONCE)
        try:
            yield
        finally:
            await anyio.to_thread.run_sync(app.state.solvings.close)
            await anyio.to_thread.run_sync(app.state.local_jobs.close)
            shelf.close()

    app = Starlette(
        routes=[
            Route("/static/{version}/{name}", _static),
            Route(METRICS, answered(_metrics)),
            *CHANGES,
            *API,
            *FILES,
            *PAGES,
        ],
        middleware=[
            Middleware(
                GZipMiddleware,
                minimum_size=1024,
                compresslevel=6,
                exclude_content_types=(*DEFAULT_EXCLUDED_CONTENT_TYPES, *NOT_SMALLER),
            )
        ],
        exception_handlers={
            FarthestError: _error,
            ReaderLeftError: _error,
            HTTPException: _error,
            Exception: _error,
        },
        lifespan=lifespan,
    )
    app.state.shelf = shelf
    app.state.settings = settings
    app.state.feeds = Feeds(shelf, look_seconds)
    app.state.local_jobs = LocalJobs(database, settings.database)
    app.state.solvings = Solvings(settings.database)
    app.state.body_seconds = body_seconds
    app.state.figures = registry_of(database, metrics.SOLVE_SECONDS, redis=settings.redis)
    return Gate(app, settings, _refused)


async def _static(request: Request) -> Response:
    found = static_files().get(request.path_params["name"])
    if found is None or request.path_params["version"] != version():
        raise HTTPException(404)
    content, kind = found
    return Response(
        content, media_type=kind, headers={"cache-control": "public, max-age=31536000, immutable"}
    )


def _metrics(request: Request) -> Response:
    """For Prometheus."""
    from prometheus_client.exposition import choose_encoder

    encoder, kind = choose_encoder(request.headers.get("accept", ""))
    return Response(encoder(request.app.state.figures), headers={"content-type": kind})


async def _error(request: Request, error: Exception) -> Response:
    return _answer(request, *status_and_message(error, shelf_of(request).database))


async def _refused(request: Request, refusal: RefusalError) -> Response:
    page = not request.url.path.startswith("/api/") and request.url.path != METRICS
    if refusal.status == 401 and request.method == "GET" and page:
        return RedirectResponse(SIGN_IN, status_code=303)
    return _answer(request, refusal.status, str(refusal))


def _answer(request: Request, status: int, message: str) -> Response:
    headers = {"www-authenticate": "Bearer"} if status == 401 else {}
    if request.url.path.startswith("/api/"):
        return json_answer({"error": message, "status": status}, status, headers)
    return HTMLResponse(message_page(TITLES.get(status, "An error of the server"), message), status, headers)
