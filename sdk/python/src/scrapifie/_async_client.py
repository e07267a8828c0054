"""The asynchronous client. The synchronous one is made from this file by ``make_sync.py``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, AsyncIterator, Generic, Mapping, Sequence, TypeVar
from urllib.parse import quote

import httpx

from ._async_transport import AsyncTransport, parsed
from .errors import BadAnswerError, ConnectionError, JobFailedError, ScrapifieError, TimeoutError
from .retries import RetryOptions
from .streams import EventParser, StreamedEvent

if TYPE_CHECKING:
    # Type checkers know this package; the client runs without it.
    from typing_extensions import Unpack

    from . import types

Item = TypeVar("Item")
Json = dict[str, Any]

_FIRST_POLL = 0.25
#: How often a stream that brings nothing new is opened again.
_MOST_EMPTY_STREAMS = 5
_NDJSON = "application/x-ndjson"
_FAILED = ("failed", "cancelled")
_SUCCEEDED = ("completed", "partially_completed")


def _at(path: str, name: str, rest: str = "") -> str:
    return f"{path}/{quote(name, safe='')}{rest}"


class AsyncList(Generic[Item]):
    """A list of the server. Iterating gives every entry, page after page, each asked for when it is needed."""

    def __init__(self, transport: AsyncTransport, path: str, query: Mapping[str, Any]) -> None:
        self._transport = transport
        self._path = path
        self._query = query

    async def page(self, cursor: str | None = None) -> Json:
        """One page: ``items``, and ``nextCursor``, which is None at the end.

        A page whose cursor is the one that was sent would be followed for ever: it raises BadAnswerError.
        """
        answer: Json = await self._transport.json("GET", self._path, query={**self._query, "cursor": cursor})
        if not isinstance(answer.get("items"), list):
            raise BadAnswerError(f"{self._path}: the page of the list has no items.")
        if answer.setdefault("nextCursor", None) is not None and answer["nextCursor"] == cursor:
            raise BadAnswerError(f"{self._path}: the cursor of the next page is that of this page.")
        return answer

    async def __aiter__(self) -> AsyncIterator[Item]:
        cursor: str | None = None
        while True:
            answer = await self.page(cursor)
            for item in answer["items"]:
                yield item
            cursor = answer["nextCursor"]
            if cursor is None:
                return

    async def all(self) -> list[Item]:
        """Every entry; for lists that are known to be short."""
        return [item async for item in self]


class AsyncJobs:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, **query: Any) -> AsyncList[types.Job]:
        return AsyncList(self._transport, "/v1/jobs", query)

    async def get(self, job_id: str) -> types.Job:
        answer: types.Job = await self._transport.json("GET", _at("/v1/jobs", job_id))
        return answer

    async def cancel(self, job_id: str) -> types.Job:
        answer: types.Job = await self._transport.json("POST", _at("/v1/jobs", job_id, "/cancel"))
        return answer

    async def resume(self, job_id: str) -> types.Job:
        answer: types.Job = await self._transport.json("POST", _at("/v1/jobs", job_id, "/resume"))
        return answer

    async def retry(self, job_id: str) -> types.Job:
        answer: types.Job = await self._transport.json("POST", _at("/v1/jobs", job_id, "/retry"))
        return answer

    async def delete(self, job_id: str) -> None:
        await self._transport.json("DELETE", _at("/v1/jobs", job_id))

    def results(self, job_id: str, **query: Any) -> AsyncList[types.Page]:
        """Pages of the job, in the order they were stored, also while it goes on."""
        return AsyncList(self._transport, _at("/v1/jobs", job_id, "/results"), query)

    async def stream(self, job_id: str, **query: Any) -> AsyncIterator[types.Page]:
        """Pages as one stream: the quickest way to read a large job."""
        path = _at("/v1/jobs", job_id, "/results")
        async with self._transport.open("GET", path, query=query, accept=_NDJSON) as lines:
            async for line in lines:
                if line:
                    yield parsed(line)

    def errors(self, job_id: str, **query: Any) -> AsyncList[types.JobError]:
        return AsyncList(self._transport, _at("/v1/jobs", job_id, "/errors"), query)

    def urls(self, job_id: str, **query: Any) -> AsyncList[types.LedgerEntry]:
        """Every URL that the job has seen, and what became of it by which rule."""
        return AsyncList(self._transport, _at("/v1/jobs", job_id, "/urls"), query)

    async def why(self, job_id: str, url: str) -> types.Why:
        """Why a URL of the job was fetched, skipped, denied or failed."""
        path = _at("/v1/jobs", job_id, "/why")
        answer: types.Why = await self._transport.json("GET", path, query={"url": url})
        return answer

    def diff(self, job_id: str, against: str, **query: Any) -> AsyncList[types.SiteChange]:
        """What changed on the site since an earlier job."""
        return AsyncList(self._transport, _at("/v1/jobs", job_id, "/diff"), {"against": against, **query})

    def exports(self, job_id: str, **query: Any) -> AsyncList[types.Export]:
        """Files that were written of the job."""
        return AsyncList(self._transport, _at("/v1/jobs", job_id, "/exports"), query)

    async def reextract(self, job_id: str, **request: Unpack[types.ReextractRequest]) -> AsyncIterator[types.Page]:
        """Reads stored pages once more by other rules, without fetching them again."""
        path = _at("/v1/jobs", job_id, "/reextract")
        async with self._transport.open("POST", path, body=request, accept=_NDJSON) as lines:
            async for line in lines:
                if line:
                    yield parsed(line)

    async def events(
        self, job_id: str, *, after: str | None = None, types: Sequence[str] | None = None
    ) -> AsyncIterator[StreamedEvent]:
        """Events of the job until it has ended.

        A stream that breaks off is opened again behind the last event, so nothing is missed and nothing comes twice.
        """
        last, empty = after, 0
        path = _at("/v1/jobs", job_id, "/events")
        query = {"types": ",".join(types) if types else None}
        while empty < _MOST_EMPTY_STREAMS:
            headers = {"last-event-id": last} if last else {}
            opened_behind = last
            parser = EventParser()
            try:
                async with self._transport.open("GET", path, query=query, accept="text/event-stream", headers=headers) as lines:
                    async for line in lines:
                        event = parser.take(line)
                        if event is None:
                            continue
                        if event.type == "end":
                            return
                        if event.id and event.id == last:
                            continue
                        last = event.id or last
                        yield event
            except ConnectionError:
                pass
            empty = empty + 1 if last == opened_behind else 0
            await asyncio.sleep(_FIRST_POLL)
        raise ConnectionError("The stream of events breaks off without a new event each time it is opened.")

    async def wait(
        self, job_id: str, *, poll: float = 2.0, timeout: float | None = None, returns_failed: bool = False
    ) -> types.Job:
        """Waits until the job has ended. Cancelling the waiting does not cancel the job.

        A job that has ended by a status that this client does not know raises BadAnswerError: the client cannot tell whether
        the job has failed.
        """
        delay, waited = min(_FIRST_POLL, poll), 0.0
        while True:
            job = await self.get(job_id)
            status = job.get("status")
            if not isinstance(status, str) or not status:
                raise BadAnswerError(f"The job {job_id} has no status.")
            if job.get("finishedAt") is not None:
                if status in _FAILED and not returns_failed:
                    raise JobFailedError(job)
                if status in _FAILED or status in _SUCCEEDED:
                    return job
                raise BadAnswerError(f"The job {job_id} has ended as {status}, which is no known status.")
            if timeout is not None and waited >= timeout:
                raise TimeoutError(f"The job {job_id} has not ended within {timeout} s.")
            await asyncio.sleep(delay)
            waited += delay
            delay = min(poll, delay * 1.5)


class AsyncSchedules:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(self, **request: Unpack[types.ScheduleRequest]) -> types.Schedule:
        answer: types.Schedule = await self._transport.json("POST", "/v1/schedules", body=request)
        return answer

    def list(self, **query: Any) -> AsyncList[types.Schedule]:
        return AsyncList(self._transport, "/v1/schedules", query)

    async def get(self, schedule_id: str) -> types.Schedule:
        answer: types.Schedule = await self._transport.json("GET", _at("/v1/schedules", schedule_id))
        return answer

    async def update(self, schedule_id: str, **change: Unpack[types.ScheduleUpdate]) -> types.Schedule:
        answer: types.Schedule = await self._transport.json("PATCH", _at("/v1/schedules", schedule_id), body=change)
        return answer

    async def delete(self, schedule_id: str) -> None:
        await self._transport.json("DELETE", _at("/v1/schedules", schedule_id))

    async def run(self, schedule_id: str) -> types.ScheduleRun:
        answer: types.ScheduleRun = await self._transport.json("POST", _at("/v1/schedules", schedule_id, "/run"))
        return answer

    async def pause(self, schedule_id: str) -> types.Schedule:
        answer: types.Schedule = await self._transport.json("POST", _at("/v1/schedules", schedule_id, "/pause"))
        return answer

    async def resume(self, schedule_id: str) -> types.Schedule:
        answer: types.Schedule = await self._transport.json("POST", _at("/v1/schedules", schedule_id, "/resume"))
        return answer

    def runs(self, schedule_id: str, **query: Any) -> AsyncList[types.ScheduleRun]:
        return AsyncList(self._transport, _at("/v1/schedules", schedule_id, "/runs"), query)


class AsyncMonitors:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(self, **request: Unpack[types.MonitorRequest]) -> types.Monitor:
        answer: types.Monitor = await self._transport.json("POST", "/v1/monitors", body=request)
        return answer

    def list(self, **query: Any) -> AsyncList[types.Monitor]:
        return AsyncList(self._transport, "/v1/monitors", query)

    async def get(self, monitor_id: str) -> types.Monitor:
        answer: types.Monitor = await self._transport.json("GET", _at("/v1/monitors", monitor_id))
        return answer

    async def update(self, monitor_id: str, **change: Unpack[types.MonitorUpdate]) -> types.Monitor:
        answer: types.Monitor = await self._transport.json("PATCH", _at("/v1/monitors", monitor_id), body=change)
        return answer

    async def delete(self, monitor_id: str) -> None:
        await self._transport.json("DELETE", _at("/v1/monitors", monitor_id))

    async def run(self, monitor_id: str) -> types.ScheduleRun:
        answer: types.ScheduleRun = await self._transport.json("POST", _at("/v1/monitors", monitor_id, "/run"))
        return answer

    async def pause(self, monitor_id: str) -> types.Monitor:
        answer: types.Monitor = await self._transport.json("POST", _at("/v1/monitors", monitor_id, "/pause"))
        return answer

    async def resume(self, monitor_id: str) -> types.Monitor:
        answer: types.Monitor = await self._transport.json("POST", _at("/v1/monitors", monitor_id, "/resume"))
        return answer

    def changes(self, monitor_id: str, **query: Any) -> AsyncList[types.MonitorChange]:
        return AsyncList(self._transport, _at("/v1/monitors", monitor_id, "/changes"), query)


class AsyncSnapshots:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    def list(self, url: str, **query: Any) -> AsyncList[types.Snapshot]:
        """The contents that a URL has had, newest first."""
        return AsyncList(self._transport, "/v1/pages", {"url": url, **query})

    async def get(self, snapshot_id: str, **query: Any) -> types.SnapshotContent:
        answer: types.SnapshotContent = await self._transport.json("GET", _at("/v1/snapshots", snapshot_id), query=query)
        return answer

    async def diff(self, snapshot_id: str, other: str, **query: Any) -> types.SnapshotDiff:
        """What changed from one snapshot to another."""
        path = _at(_at("/v1/snapshots", snapshot_id, "/diff"), other)
        answer: types.SnapshotDiff = await self._transport.json("GET", path, query=query)
        return answer


class AsyncExports:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(self, job_id: str, **request: Unpack[types.ExportRequest]) -> types.Export:
        """Starts to write a file of a job; ``wait`` waits for it."""
        answer: types.Export = await self._transport.json("POST", _at("/v1/jobs", job_id, "/exports"), body=request)
        return answer

    def list(self, **query: Any) -> AsyncList[types.Export]:
        return AsyncList(self._transport, "/v1/exports", query)

    async def get(self, export_id: str) -> types.Export:
        answer: types.Export = await self._transport.json("GET", _at("/v1/exports", export_id))
        return answer

    async def delete(self, export_id: str) -> None:
        await self._transport.json("DELETE", _at("/v1/exports", export_id))

    async def wait(self, export_id: str) -> types.Export:
        """Waits until the file is written; raises when that has failed."""
        while True:
            found = await self.get(export_id)
            if found.get("status") == "ready":
                return found
            if found.get("status") == "failed":
                raise ScrapifieError("EXPORT_FAILED", f"The export {export_id} has failed.")
            await asyncio.sleep(0.5)

    async def download(self, export_id: str) -> AsyncIterator[bytes]:
        """The bytes of a file that is ready, as they come."""
        path = _at("/v1/exports", export_id, "/download")
        async with self._transport.open_bytes("GET", path, headers={"accept": "*/*"}) as chunks:
            async for chunk in chunks:
                yield chunk


class AsyncWebhooks:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(self, **request: Unpack[types.WebhookRequest]) -> types.NewWebhook:
        answer: types.NewWebhook = await self._transport.json("POST", "/v1/webhooks", body=request)
        return answer

    def list(self, **query: Any) -> AsyncList[types.Webhook]:
        return AsyncList(self._transport, "/v1/webhooks", query)

    async def get(self, webhook_id: str) -> types.Webhook:
        answer: types.Webhook = await self._transport.json("GET", _at("/v1/webhooks", webhook_id))
        return answer

    async def update(self, webhook_id: str, **change: Unpack[types.WebhookUpdate]) -> types.ChangedWebhook:
        answer: types.ChangedWebhook = await self._transport.json("PATCH", _at("/v1/webhooks", webhook_id), body=change)
        return answer

    async def delete(self, webhook_id: str) -> None:
        await self._transport.json("DELETE", _at("/v1/webhooks", webhook_id))

    async def rotate(self, webhook_id: str, **request: Unpack[types.RotateWebhookSecretRequest]) -> types.NewWebhook:
        answer: types.NewWebhook = await self._transport.json("POST", _at("/v1/webhooks", webhook_id, "/rotate"), body=request)
        return answer

    def deliveries(self, webhook_id: str, **query: Any) -> AsyncList[types.Delivery]:
        return AsyncList(self._transport, _at("/v1/webhooks", webhook_id, "/deliveries"), query)

    async def redeliver(self, delivery_id: str) -> types.DeliveryDetail:
        answer: types.DeliveryDetail = await self._transport.json("POST", _at("/v1/deliveries", delivery_id, "/redeliver"))
        return answer


class AsyncScrapifie:
    """A client of one Scrapifie server.

    Requests are repeated when the connection fails and for the statuses 408, 425, 429, 500 and 503 (502 and 504
    from a proxy in between), after the pause that the server asks for. Requests that create something carry an Idempotency-Key, so that repeating them creates
    nothing twice. Names of fields in requests and answers are those of the API.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float = 120.0,
        retries: RetryOptions | None = None,
        max_answer_bytes: int = 256 * 1024**2,
        headers: Mapping[str, str] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._transport = AsyncTransport(
            base_url,
            api_key,
            timeout=timeout,
            retries=retries or RetryOptions(),
            max_answer_bytes=max_answer_bytes,
            headers=headers,
            transport=transport,
        )
        self.jobs = AsyncJobs(self._transport)
        self.exports = AsyncExports(self._transport)
        self.snapshots = AsyncSnapshots(self._transport)
        self.monitors = AsyncMonitors(self._transport)
        self.schedules = AsyncSchedules(self._transport)
        self.webhooks = AsyncWebhooks(self._transport)

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> "AsyncScrapifie":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def scrape(self, url: str, *, idempotency_key: str | None = None, **options: Unpack[types.ScrapeOptions]) -> types.Scrape:
        """Fetches one page and waits for it."""
        answer: types.Scrape = await self._create("/v1/scrape", {"url": url, **options}, idempotency_key)
        return answer

    async def batch(self, urls: list[str], *, idempotency_key: str | None = None, **options: Unpack[types.BatchOptions]) -> types.AcceptedBatch:
        """Starts a job over a list of URLs."""
        answer: types.AcceptedBatch = await self._create("/v1/batch", {"urls": urls, **options}, idempotency_key)
        return answer

    async def crawl(
        self, urls: list[str] | None = None, /, *, idempotency_key: str | None = None, **options: Unpack[types.CrawlRequest]
    ) -> types.AcceptedJob:
        """Starts a crawl. ``jobs.wait`` waits for its end, ``jobs.events`` tells what happens meanwhile."""
        request: Json = {**options}
        if urls is not None:
            request["urls"] = urls
        answer: types.AcceptedJob = await self._create("/v1/crawl", request, idempotency_key)
        return answer

    async def map(self, url: str, *, idempotency_key: str | None = None, **options: Unpack[types.MapOptions]) -> types.Map:
        """URLs of a site, without reading its pages."""
        answer: types.Map = await self._create("/v1/map", {"url": url, **options}, idempotency_key)
        return answer

    async def extract(self, *, idempotency_key: str | None = None, **request: Unpack[types.ExtractRequest]) -> types.Page:
        """Structured data of a page, by rules, a type or a schema."""
        answer: types.Page = await self._create("/v1/extract", request, idempotency_key)
        return answer

    def search(self, q: str, **query: Any) -> AsyncList[types.SearchHit]:
        """Full-text search over stored pages, best first."""
        return AsyncList(self._transport, "/v1/search", {"q": q, **query})

    async def query(self, **request: Unpack[types.QueryRequest]) -> types.QueryResult:
        """A typed question over what is stored, or SQL over the lake (``sql=``)."""
        answer: types.QueryResult = await self._transport.json("POST", "/v1/query", body=request)
        return answer

    async def account(self) -> types.OwnAccount:
        answer: types.OwnAccount = await self._transport.json("GET", "/v1/account")
        return answer

    def usage(self, **query: Any) -> AsyncList[types.Usage]:
        return AsyncList(self._transport, "/v1/usage", query)

    async def _create(self, path: str, body: Mapping[str, Any], idempotency_key: str | None) -> Any:
        return await self._transport.json("POST", path, body=body, idempotency_key=idempotency_key)
