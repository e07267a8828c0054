package scrapifie

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// CodeExportFailed is the code of an export that could not be written.
const CodeExportFailed = "EXPORT_FAILED"

const exportPoll = 500 * time.Millisecond

// Search gives stored pages that have the words, best first.
func (c *Client) Search(q string, query url.Values) *List[SearchHit] {
	return newList[SearchHit](c, "/v1/search", with(query, "q", q))
}

// Query answers a typed question over what is stored, or SQL over the lake.
func (c *Client) Query(ctx context.Context, request Request) (*QueryResult, error) {
	return post[QueryResult](ctx, c, "/v1/query", request)
}

// Exports are files of jobs.
type Exports struct{ client *Client }

// Create starts to write a file of a job; Wait waits for it.
func (e *Exports) Create(ctx context.Context, jobID string, request Request) (*Export, error) {
	return post[Export](ctx, e.client, at("/v1/jobs", jobID, "exports"), request)
}

func (e *Exports) List(query url.Values) *List[Export] {
	return newList[Export](e.client, "/v1/exports", query)
}

func (e *Exports) Get(ctx context.Context, id string) (*Export, error) {
	return get[Export](ctx, e.client, at("/v1/exports", id))
}

func (e *Exports) Delete(ctx context.Context, id string) error {
	return e.client.json(ctx, call{method: http.MethodDelete, path: at("/v1/exports", id)}, nil)
}

// Wait waits until the file is written. The code of its error is EXPORT_FAILED when that has failed.
func (e *Exports) Wait(ctx context.Context, id string) (*Export, error) {
	for {
		found, err := e.Get(ctx, id)
		if err != nil || found.Status == "ready" {
			return found, err
		}
		if found.Status == "failed" {
			return found, &Error{Code: CodeExportFailed, Message: fmt.Sprintf("the export %s has failed", id)}
		}
		if err := pause(ctx, exportPoll); err != nil {
			return nil, err
		}
	}
}

// Download gives the bytes of a file that is ready; the caller closes it.
func (e *Exports) Download(ctx context.Context, id string) (io.ReadCloser, error) {
	response, err := e.client.open(ctx, call{method: http.MethodGet, path: at("/v1/exports", id, "download"), accept: "*/*"})
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// Snapshots are the contents that pages have had.
type Snapshots struct{ client *Client }

// List gives the contents that a URL has had, newest first.
func (s *Snapshots) List(address string, query url.Values) *List[Snapshot] {
	return newList[Snapshot](s.client, "/v1/pages", with(query, "url", address))
}

func (s *Snapshots) Get(ctx context.Context, id string, query url.Values) (*SnapshotContent, error) {
	what := call{method: http.MethodGet, path: at("/v1/snapshots", id), query: query}
	return ask[SnapshotContent](ctx, s.client, what)
}

// Diff gives what changed from one snapshot to another.
func (s *Snapshots) Diff(ctx context.Context, id, other string, query url.Values) (*SnapshotDiff, error) {
	path := at("/v1/snapshots", id, "diff", url.PathEscape(other))
	return ask[SnapshotDiff](ctx, s.client, call{method: http.MethodGet, path: path, query: query})
}

// Monitors watch pages for changes.
type Monitors struct{ client *Client }

func (m *Monitors) Create(ctx context.Context, request Request) (*Monitor, error) {
	return post[Monitor](ctx, m.client, "/v1/monitors", request)
}

func (m *Monitors) List(query url.Values) *List[Monitor] {
	return newList[Monitor](m.client, "/v1/monitors", query)
}

func (m *Monitors) Get(ctx context.Context, id string) (*Monitor, error) {
	return get[Monitor](ctx, m.client, at("/v1/monitors", id))
}

func (m *Monitors) Update(ctx context.Context, id string, change Request) (*Monitor, error) {
	return patch[Monitor](ctx, m.client, at("/v1/monitors", id), change)
}

func (m *Monitors) Delete(ctx context.Context, id string) error {
	return m.client.json(ctx, call{method: http.MethodDelete, path: at("/v1/monitors", id)}, nil)
}

func (m *Monitors) Run(ctx context.Context, id string) (*ScheduleRun, error) {
	return post[ScheduleRun](ctx, m.client, at("/v1/monitors", id, "run"), nil)
}

func (m *Monitors) Pause(ctx context.Context, id string) (*Monitor, error) {
	return post[Monitor](ctx, m.client, at("/v1/monitors", id, "pause"), nil)
}

func (m *Monitors) Resume(ctx context.Context, id string) (*Monitor, error) {
	return post[Monitor](ctx, m.client, at("/v1/monitors", id, "resume"), nil)
}

func (m *Monitors) Changes(id string, query url.Values) *List[MonitorChange] {
	return newList[MonitorChange](m.client, at("/v1/monitors", id, "changes"), query)
}
