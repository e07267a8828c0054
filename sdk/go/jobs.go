package scrapifie

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	firstPoll = 250 * time.Millisecond
	longPoll  = 2 * time.Second
	// mostEmptyStreams is how often a stream that brings nothing new is opened again.
	mostEmptyStreams = 5
)

// Jobs of the account.
type Jobs struct{ client *Client }

// List gives jobs, newest first.
func (j *Jobs) List(query url.Values) *List[Job] { return newList[Job](j.client, "/v1/jobs", query) }

// Get gives one job.
func (j *Jobs) Get(ctx context.Context, id string) (*Job, error) {
	return get[Job](ctx, j.client, at("/v1/jobs", id))
}

// Cancel drops what waits; what is under way is finished.
func (j *Jobs) Cancel(ctx context.Context, id string) (*Job, error) {
	return post[Job](ctx, j.client, at("/v1/jobs", id, "cancel"), nil)
}

// Resume goes on with a job that was cancelled or stopped.
func (j *Jobs) Resume(ctx context.Context, id string) (*Job, error) {
	return post[Job](ctx, j.client, at("/v1/jobs", id, "resume"), nil)
}

// Retry tries the failed URLs of a job again.
func (j *Jobs) Retry(ctx context.Context, id string) (*Job, error) {
	return post[Job](ctx, j.client, at("/v1/jobs", id, "retry"), nil)
}

// Delete removes the job with everything it has brought.
func (j *Jobs) Delete(ctx context.Context, id string) error {
	return j.client.json(ctx, call{method: http.MethodDelete, path: at("/v1/jobs", id)}, nil)
}

// Results gives pages of the job, in the order they were stored, also while it goes on.
func (j *Jobs) Results(id string, query url.Values) *List[Page] {
	return newList[Page](j.client, at("/v1/jobs", id, "results"), query)
}

// Errors gives the URLs that failed and those that were denied, with the reason.
func (j *Jobs) Errors(id string, query url.Values) *List[JobError] {
	return newList[JobError](j.client, at("/v1/jobs", id, "errors"), query)
}

// URLs gives every URL that the job has seen, and what became of it by which rule.
func (j *Jobs) URLs(id string, query url.Values) *List[LedgerEntry] {
	return newList[LedgerEntry](j.client, at("/v1/jobs", id, "urls"), query)
}

// Diff gives what changed on the site since an earlier job.
func (j *Jobs) Diff(id, against string, query url.Values) *List[SiteChange] {
	return newList[SiteChange](j.client, at("/v1/jobs", id, "diff"), with(query, "against", against))
}

// Exports gives the files that were written of the job.
func (j *Jobs) Exports(id string, query url.Values) *List[Export] {
	return newList[Export](j.client, at("/v1/jobs", id, "exports"), query)
}

// Why says why a URL of the job was fetched, skipped, denied or failed.
func (j *Jobs) Why(ctx context.Context, id, address string) (*Why, error) {
	query := url.Values{"url": {address}}
	return ask[Why](ctx, j.client, call{method: http.MethodGet, path: at("/v1/jobs", id, "why"), query: query})
}

// Stream hands every page to the function: the quickest way to read a large job. An error of the function ends it.
func (j *Jobs) Stream(ctx context.Context, id string, query url.Values, each func(*Page) error) error {
	what := call{method: http.MethodGet, path: at("/v1/jobs", id, "results"), query: query, accept: "application/x-ndjson"}
	return j.streamed(ctx, what, each)
}

// Reextract reads stored pages once more by other rules, without fetching them again.
func (j *Jobs) Reextract(ctx context.Context, id string, request Request, each func(*Page) error) error {
	what := call{method: http.MethodPost, path: at("/v1/jobs", id, "reextract"), body: request, accept: "application/x-ndjson"}
	return j.streamed(ctx, what, each)
}

func (j *Jobs) streamed(ctx context.Context, what call, each func(*Page) error) error {
	response, err := j.client.open(ctx, what)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := newLineReader(response.Body, j.client.maxAnswerBytes)
	for {
		line, err := lines.next()
		if err == io.EOF {
			return nil
		}
		if err == errLongLine {
			return badAnswer(what, err)
		}
		if err != nil {
			return connectionError(what, err)
		}
		if line == "" {
			continue
		}
		page, err := decode[Page]([]byte(line))
		if err != nil {
			return badAnswer(what, err)
		}
		if err := each(&page); err != nil {
			return err
		}
	}
}

// EventOptions choose events.
type EventOptions struct {
	// After goes on behind the event of this id.
	After string
	// Types such as page.failed and job.*.
	Types []string
}

// Events hands the events of the job to the function until it has ended. A stream that breaks off is opened again behind
// the last event, so nothing is missed and nothing comes twice.
func (j *Jobs) Events(ctx context.Context, id string, options EventOptions, each func(*Event) error) error {
	last := options.After
	what := call{method: http.MethodGet, path: at("/v1/jobs", id, "events"), accept: "text/event-stream"}
	if len(options.Types) > 0 {
		what.query = url.Values{"types": {strings.Join(options.Types, ",")}}
	}
	for empty := 0; empty < mostEmptyStreams; empty++ {
		openedBehind := last
		if last != "" {
			what.header = http.Header{"Last-Event-Id": {last}}
		}
		response, err := j.client.open(ctx, what)
		if err != nil {
			return err
		}
		lines := newLineReader(response.Body, j.client.maxAnswerBytes)
		for {
			event, err := lines.nextEvent()
			if err == errLongLine {
				response.Body.Close()
				return badAnswer(what, err)
			}
			if err != nil {
				break
			}
			if event.Type == "end" {
				return response.Body.Close()
			}
			if event.ID != "" && event.ID == last {
				continue
			}
			if event.ID != "" {
				last = event.ID
			}
			if err := each(event); err != nil {
				response.Body.Close()
				return err
			}
		}
		response.Body.Close()
		if last != openedBehind {
			empty = -1
		}
		if err := pause(ctx, firstPoll); err != nil {
			return err
		}
	}
	return connectionError(what, errors.New("the stream of events breaks off without a new event each time it is opened"))
}

// Wait waits until the job has ended. The end of the context ends the waiting, not the job. A job that has failed or was
// cancelled is returned with a *JobFailedError. A job that has ended by a status that this client does not know is a
// BAD_ANSWER: the client cannot tell whether the job has failed.
func (j *Jobs) Wait(ctx context.Context, id string) (*Job, error) {
	for delay := firstPoll; ; delay = delay * 3 / 2 {
		job, err := j.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		what := call{method: http.MethodGet, path: at("/v1/jobs", id)}
		if job.Status == "" {
			return nil, badAnswer(what, errors.New("the job has no status"))
		}
		if job.FinishedAt != nil {
			switch job.Status {
			case "failed", "cancelled":
				return job, &JobFailedError{job}
			case "completed", "partially_completed":
				return job, nil
			}
			return nil, badAnswer(what, fmt.Errorf("the job has ended as %s, which is no known status", job.Status))
		}
		if delay > longPoll {
			delay = longPoll
		}
		if err := pause(ctx, delay); err != nil {
			return nil, err
		}
	}
}
