"""The synchronous client, made from ``_async_client.py`` by ``make_sync.py``: change that one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Iterator, Generic, Mapping, Sequence, TypeVar
from urllib.parse import quote

import httpx

from ._sync_transport import Transport, parsed
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


class List(Generic[Item]):
    """A list of the server. Iterating gives every entry, page after page, each asked for when it is needed."""

    def __init__(self, transport: Transport, path: str, query: Mapping[str, Any]) -> None:
        self._transport = transport
        self._path = path
        self._query = query

    def page(self, cursor: str | None = None) -> Json:
        """One page: ``items``, and ``nextCursor``, which is None at the end.

        A page whose cursor is the one that was sent would be followed for ever: it raises BadAnswerError.
        """
        answer: Json = self._transport.json("GET", self._path, query={**self._query, "cursor": cursor})
        if not isinstance(answer.get("items"), list):
            raise BadAnswerError(f"{self._path}: the page of the list has no items.")
        if answer.setdefault("nextCursor", None) is not None and answer["nextCursor"] == cursor:
            raise BadAnswerError(f"{self._path}: the cursor of the next page is that of this page.")
        return answer

    def __iter__(self) -> Iterator[Item]:
        cursor: str | None = None
        while True:
            answer = self.page(cursor)
            for item in answer["items"]:
                yield item
            cursor = answer["nextCursor"]
            if cursor is None:
                return

    def all(self) -> list[Item]:
        """Every entry; for lists that are known to be short."""
        return [item for item in self]


class Jobs:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, **query: Any) -> List[types.Job]:
        return List(self._transport, "/v1/jobs", query)

    def get(self, job_id: str) -> types.Job:
        answer: types.Job = self._transport.json("GET", _at("/v1/jobs", job_id))
        return answer

    def cancel(self, job_id: str) -> types.Job:
        answer: types.Job = self._transport.json("POST", _at("/v1/jobs", job_id, "/cancel"))
        return answer

    def resume(self, job_id: str) -> types.Job:
        answer: types.Job = self._transport.json("POST", _at("/v1/jobs", job_id, "/resume"))
        return answer

    def retry(self, job_id: str) -> types.Job:
        answer: types.Job = self._transport.json("POST", _at("/v1/jobs", job_id, "/retry"))
        return answer

    def delete(self, job_id: str) -> None:
        self._transport.json("DELETE", _at("/v1/jobs", job_id))

    def results(self, job_id: str, **query: Any) -> List[types.Page]:
        """Pages of the job, in the order they were stored, also while it goes on."""
        return List(self._transport, _at("/v1/jobs", job_id, "/results"), query)

    def stream(self, job_id: str, **query: Any) -> Iterator[types.Page]:
        """Pages as one stream: the quickest way to read a large job."""
        path = _at("/v1/jobs", job_id, "/results")
        with self._transport.open("GET", path, query=query, accept=_NDJSON) as lines:
            for line in lines:
                if line:
                    yield parsed(line)

    def errors(self, job_id: str, **query: Any) -> List[types.JobError]:
        return List(self._transport, _at("/v1/jobs", job_id, "/errors"), query)

    def urls(self, job_id: str, **query: Any) -> List[types.LedgerEntry]:
        """Every URL that the job has seen, and what became of it by which rule."""
        return List(self._transport, _at("/v1/jobs", job_id, "/urls"), query)

    def why(self, job_id: str, url: str) -> types.Why:
        """Why a URL of the job was fetched, skipped, denied or failed."""
        path = _at("/v1/jobs", job_id, "/why")
        answer: types.Why = self._transport.json("GET", path, query={"url": url})
        return answer

    def diff(self, job_id: str, against: str, **query: Any) -> List[types.SiteChange]:
        """What changed on the site since an earlier job."""
        return List(self._transport, _at("/v1/jobs", job_id, "/diff"), {"against": against, **query})

    def exports(self, job_id: str, **query: Any) -> List[types.Export]:
        """Files that were written of the job."""
        return List(self._transport, _at("/v1/jobs", job_id, "/exports"), query)

    def reextract(self, job_id: str, **request: Unpack[types.ReextractRequest]) -> Iterator[types.Page]:
        """Reads stored pages once more by other rules, without fetching them again."""
        path = _at("/v1/jobs", job_id, "/reextract")
        with self._transport.open("POST", path, body=request, accept=_NDJSON) as lines:
            for line in lines:
                if line:
                    yield parsed(line)

    def events(
        self, job_id: str, *, after: str | None = None, types: Sequence[str] | None = None
    ) -> Iterator[StreamedEvent]:
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
                with self._transport.open("GET", path, query=query, accept="text/event-stream", headers=headers) as lines:
                    for line in lines:
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
            time.sleep(_FIRST_POLL)
        raise ConnectionError("The stream of events breaks off without a new event each time it is opened.")

    def wait(
        self, job_id: str, *, poll: float = 2.0, timeout: float | None = None, returns_failed: bool = False
    ) -> types.Job:
        """Waits until the job has ended. Cancelling the waiting does not cancel the job.

        A job that has ended by a status that this client does not know raises BadAnswerError: the client cannot tell whether
        the job has failed.
        """
        delay, waited = min(_FIRST_POLL, poll), 0.0
        while True:
            job = self.get(job_id)
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
            time.sleep(delay)
            waited += delay
            delay = min(poll, delay * 1.5)


class Schedules:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, **request: Unpack[types.ScheduleRequest]) -> types.Schedule:
        answer: types.Schedule = self._transport.json("POST", "/v1/schedules", body=request)
        return answer

    def list(self, **query: Any) -> List[types.Schedule]:
        return List(self._transport, "/v1/schedules", query)

    def get(self, schedule_id: str) -> types.Schedule:
        answer: types.Schedule = self._transport.json("GET", _at("/v1/schedules", schedule_id))
        return answer

    def update(self, schedule_id: str, **change: Unpack[types.ScheduleUpdate]) -> types.Schedule:
        answer: types.Schedule = self._transport.json("PATCH", _at("/v1/schedules", schedule_id), body=change)
        return answer

    def delete(self, schedule_id: str) -> None:
        self._transport.json("DELETE", _at("/v1/schedules", schedule_id))

    def run(self, schedule_id: str) -> types.ScheduleRun:
        answer: types.ScheduleRun = self._transport.json("POST", _at("/v1/schedules", schedule_id, "/run"))
        return answer

    def pause(self, schedule_id: str) -> types.Schedule:
        answer: types.Schedule = self._transport.json("POST", _at("/v1/schedules", schedule_id, "/pause"))
        return answer

    def resume(self, schedule_id: str) -> types.Schedule:
        answer: types.Schedule = self._transport.json("POST", _at("/v1/schedules", schedule_id, "/resume"))
        return answer

    def runs(self, schedule_id: str, **query: Any) -> List[types.ScheduleRun]:
        return List(self._transport, _at("/v1/schedules", schedule_id, "/runs"), query)


class Monitors:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, **request: Unpack[types.MonitorRequest]) -> types.Monitor:
        answer: types.Monitor = self._transport.json("POST", "/v1/monitors", body=request)
        return answer

    def list(self, **query: Any) -> List[types.Monitor]:
        return List(self._transport, "/v1/monitors", query)

    def get(self, monitor_id: str) -> types.Monitor:
        answer: types.Monitor = self._transport.json("GET", _at("/v1/monitors", monitor_id))
        return answer

    def update(self, monitor_id: str, **change: Unpack[types.MonitorUpdate]) -> types.Monitor:
        answer: types.Monitor = self._transport.json("PATCH", _at("/v1/monitors", monitor_id), body=change)
        return answer

    def delete(self, monitor_id: str) -> None:
        self._transport.json("DELETE", _at("/v1/monitors", monitor_id))

    def run(self, monitor_id: str) -> types.ScheduleRun:
        answer: types.ScheduleRun = self._transport.json("POST", _at("/v1/monitors", monitor_id, "/run"))
        return answer

    def pause(self, monitor_id: str) -> types.Monitor:
        answer: types.Monitor = self._transport.json("POST", _at("/v1/monitors", monitor_id, "/pause"))
        return answer

    def resume(self, monitor_id: str) -> types.Monitor:
        answer: types.Monitor = self._transport.json("POST", _at("/v1/monitors", monitor_id, "/resume"))
        return answer

    def changes(self, monitor_id: str, **query: Any) -> List[types.MonitorChange]:
        return List(self._transport, _at("/v1/monitors", monitor_id, "/changes"), query)


class Snapshots:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, url: str, **query: Any) -> List[types.Snapshot]:
        """The contents that a URL has had, newest first."""
        return List(self._transport, "/v1/pages", {"url": url, **query})

    def get(self, snapshot_id: str, **query: Any) -> types.SnapshotContent:
        answer: types.SnapshotContent = self._transport.json("GET", _at("/v1/snapshots", snapshot_id), query=query)
        return answer

    def diff(self, snapshot_id: str, other: str, **query: Any) -> types.SnapshotDiff:
        """What changed from one snapshot to another."""
        path = _at(_at("/v1/snapshots", snapshot_id, "/diff"), other)
        answer: types.SnapshotDiff = self._transport.json("GET", path, query=query)
        return answer


class Exports:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, job_id: str, **request: Unpack[types.ExportRequest]) -> types.Export:
        """Starts to write a file of a job; ``wait`` waits for it."""
        answer: types.Export = self._transport.json("POST", _at("/v1/jobs", job_id, "/exports"), body=request)
        return answer

    def list(self, **query: Any) -> List[types.Export]:
        return List(self._transport, "/v1/exports", query)

    def get(self, export_id: str) -> types.Export:
        answer: types.Export = self._transport.json("GET", _at("/v1/exports", export_id))
        return answer

    def delete(self, export_id: str) -> None:
        self._transport.json("DELETE", _at("/v1/exports", export_id))

    def wait(self, export_id: str) -> types.Export:
        """Waits until the file is written; raises when that has failed."""
        while True:
            found = self.get(export_id)
            if found.get("status") == "ready":
                return found
            if found.get("status") == "failed":
                raise ScrapifieError("EXPORT_FAILED", f"The export {export_id} has failed.")
            time.sleep(0.5)

    def download(self, export_id: str) -> Iterator[bytes]:
        """The bytes of a file that is ready, as they come."""
        path = _at("/v1/exports", export_id, "/download")
        with self._transport.open_bytes("GET", path, headers={"accept": "*/*"}) as chunks:
            for chunk in chunks:
                yield chunk


class Webhooks:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, **request: Unpack[types.WebhookRequest]) -> types.NewWebhook:
        answer: types.NewWebhook = self._transport.json("POST", "/v1/webhooks", body=request)
        return answer

    def list(self, **query: Any) -> List[types.Webhook]:
        return List(self._transport, "/v1/webhooks", query)

    def get(self, webhook_id: str) -> types.Webhook:
        answer: types.Webhook = self._transport.json("GET", _at("/v1/webhooks", webhook_id))
        return answer

    def update(self, webhook_id: str, **change: Unpack[types.WebhookUpdate]) -> types.ChangedWebhook:
        answer: types.ChangedWebhook = self._transport.json("PATCH", _at("/v1/webhooks", webhook_id), body=change)
        return answer

    def delete(self, webhook_id: str) -> None:
        self._transport.json("DELETE", _at("/v1/webhooks", webhook_id))

    def rotate(self, webhook_id: str, **request: Unpack[types.RotateWebhookSecretRequest]) -> types.NewWebhook:
        answer: types.NewWebhook = self._transport.json("POST", _at("/v1/webhooks", webhook_id, "/rotate"), body=request)
        return answer

    def deliveries(self, webhook_id: str, **query: Any) -> List[types.Delivery]:
        return List(self._transport, _at("/v1/webhooks", webhook_id, "/deliveries"), query)

    def redeliver(self, delivery_id: str) -> types.DeliveryDetail:
        answer: types.DeliveryDetail = self._transport.json("POST", _at("/v1/deliveries", delivery_id, "/redeliver"))
        return answer


class Scrapifie:
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
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._transport = Transport(
            base_url,
            api_key,
            timeout=timeout,
            retries=retries or RetryOptions(),
            max_answer_bytes=max_answer_bytes,
            headers=headers,
            transport=transport,
        )
        self.jobs = Jobs(self._transport)
        self.exports = Exports(self._transport)
        self.snapshots = Snapshots(self._transport)
        self.monitors = Monitors(self._transport)
        self.schedules = Schedules(self._transport)
        self.webhooks = Webhooks(self._transport)

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> "Scrapifie":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def scrape(self, url: str, *, idempotency_key: str | None = None, **options: Unpack[types.ScrapeOptions]) -> types.Scrape:
        """Fetches one page and waits for it."""
        answer: types.Scrape = self._create("/v1/scrape", {"url": url, **options}, idempotency_key)
        return answer

    def batch(self, urls: list[str], *, idempotency_key: str | None = None, **options: Unpack[types.BatchOptions]) -> types.AcceptedBatch:
        """Starts a job over a list of URLs."""
        answer: types.AcceptedBatch = self._create("/v1/batch", {"urls": urls, **options}, idempotency_key)
        return answer

    def crawl(
        self, urls: list[str] | None = None, /, *, idempotency_key: str | None = None, **options: Unpack[types.CrawlRequest]
    ) -> types.AcceptedJob:
        """Starts a crawl. ``jobs.wait`` waits for its end, ``jobs.events`` tells what happens meanwhile."""
        request: Json = {**options}
        if urls is not None:
            request["urls"] = urls
        answer: types.AcceptedJob = self._create("/v1/crawl", request, idempotency_key)
        return answer

    def map(self, url: str, *, idempotency_key: str | None = None, **options: Unpack[types.MapOptions]) -> types.Map:
        """URLs of a site, without reading its pages."""
        answer: types.Map = self._create("/v1/map", {"url": url, **options}, idempotency_key)
        return answer

    def extract(self, *, idempotency_key: str | None = None, **request: Unpack[types.ExtractRequest]) -> types.Page:
        """Structured data of a page, by rules, a type or a schema."""
        answer: types.Page = self._create("/v1/extract", request, idempotency_key)
        return answer

    def search(self, q: str, **query: Any) -> List[types.SearchHit]:
        """Full-text search over stored pages, best first."""
        return List(self._transport, "/v1/search", {"q": q, **query})

    def query(self, **request: Unpack[types.QueryRequest]) -> types.QueryResult:
        """A typed question over what is stored, or SQL over the lake (``sql=``)."""
        answer: types.QueryResult = self._transport.json("POST", "/v1/query", body=request)
        return answer

    def account(self) -> types.OwnAccount:
        answer: types.OwnAccount = self._transport.json("GET", "/v1/account")
        return answer

    def usage(self, **query: Any) -> List[types.Usage]:
        return List(self._transport, "/v1/usage", query)

    def _create(self, path: str, body: Mapping[str, Any], idempotency_key: str | None) -> Any:
        return self._transport.json("POST", path, body=body, idempotency_key=idempotency_key)
