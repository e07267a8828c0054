// Command scenarios runs the scenarios with this client and prints one line for each.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	scrapifie "github.com/scrapifie/scrapifie-go"
)

type step struct {
	Call           string           `json:"call"`
	ID             string           `json:"id"`
	URL            string           `json:"url"`
	Against        string           `json:"against"`
	Text           string           `json:"text"`
	Request        scrapifie.Object `json:"request"`
	Query          scrapifie.Object `json:"query"`
	IdempotencyKey string           `json:"idempotencyKey"`
	Faults         []string         `json:"faults"`
	Save           string           `json:"save"`
	Expect         any              `json:"expect"`
	Error          scrapifie.Object `json:"error"`
	IsEventual     bool             `json:"isEventual"`
}

const (
	eventual = 20 * time.Second
	look     = 200 * time.Millisecond
)

type scenario struct {
	Name   string            `json:"name"`
	Faults []string          `json:"faults"`
	Steps  []json.RawMessage `json:"steps"`
}

var (
	server = os.Getenv("SCRAPIFIE_URL")
	client = scrapifie.New(scrapifie.Options{
		BaseURL:        server,
		APIKey:         os.Getenv("SCRAPIFIE_KEY"),
		Retries:        scrapifie.RetryOptions{BaseDelay: 20 * time.Millisecond, MaxRetryAfter: 3 * time.Second},
		MaxAnswerBytes: 4 << 20,
	})
	place = regexp.MustCompile(`\{(site|[a-z]+\.[A-Za-z.]+)\}`)
)

func main() {
	raw, err := os.ReadFile(os.Getenv("SCENARIOS"))
	if err != nil {
		panic(err)
	}
	var scenarios []scenario
	if err := json.Unmarshal(raw, &scenarios); err != nil {
		panic(err)
	}
	for _, each := range scenarios {
		var message any
		if err := run(each); err != nil {
			message = err.Error()
		}
		line, _ := json.Marshal(scrapifie.Object{"name": each.Name, "ok": message == nil, "message": message})
		fmt.Println(string(line))
	}
}

func run(what scenario) error {
	saved := scrapifie.Object{}
	if err := setFaults(what.Faults); err != nil {
		return err
	}
	for index, raw := range what.Steps {
		var next step
		if err := json.Unmarshal([]byte(filled(string(raw), saved)), &next); err != nil {
			return err
		}
		if next.Faults != nil {
			if err := setFaults(next.Faults); err != nil {
				return err
			}
		}
		if err := checkUntil(next, saved); err != nil {
			return fmt.Errorf("step %d (%s): %w", index+1, next.Call, err)
		}
	}
	return setFaults(nil)
}

// checkUntil waits for background work of the server.
func checkUntil(what step, saved scrapifie.Object) error {
	endAt := time.Now()
	if what.IsEventual {
		endAt = endAt.Add(eventual)
	}
	for {
		err := check(what, saved)
		if err == nil || !time.Now().Before(endAt) {
			return err
		}
		time.Sleep(look)
	}
}

func check(what step, saved scrapifie.Object) error {
	answer, err := call(what)
	if err != nil {
		if what.Error == nil {
			return err
		}
		return mismatch(errorObject(err), map[string]any(what.Error), "error")
	}
	if what.Error != nil {
		return errors.New("it succeeded")
	}
	plain, err := plainOf(answer)
	if err != nil {
		return err
	}
	if what.Save != "" {
		saved[what.Save] = plain
	}
	if what.Expect == nil {
		return nil
	}
	return mismatch(plain, what.Expect, "answer")
}

func errorObject(err error) map[string]any {
	var known *scrapifie.Error
	if errors.As(err, &known) {
		var status any
		if known.Status != 0 {
			status = float64(known.Status)
		}
		return map[string]any{"code": known.Code, "status": status}
	}
	var failed *scrapifie.JobFailedError
	if errors.As(err, &failed) {
		return map[string]any{"code": scrapifie.CodeJobFailed}
	}
	return map[string]any{"code": err.Error()}
}

// plainOf is the answer as JSON has it.
func plainOf(answer any) (any, error) {
	raw, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	var plain any
	return plain, json.Unmarshal(raw, &plain)
}

func call(what step) (any, error) {
	ctx := context.Background()
	if what.IdempotencyKey != "" {
		ctx = scrapifie.WithIdempotencyKey(ctx, what.IdempotencyKey)
	}
	query := url.Values{}
	for name, value := range what.Query {
		query.Set(name, fmt.Sprint(value))
	}
	switch what.Call {
	case "scrape":
		return client.Scrape(ctx, what.Request)
	case "crawl":
		return client.Crawl(ctx, what.Request)
	case "batch":
		return client.Batch(ctx, what.Request)
	case "map":
		return client.Map(ctx, what.Request)
	case "extract":
		return client.Extract(ctx, what.Request)
	case "account":
		return client.Account(ctx)
	case "usage":
		return listed(ctx, client.Usage(query))
	case "jobs.list":
		return listed(ctx, client.Jobs.List(query))
	case "jobs.get":
		return client.Jobs.Get(ctx, what.ID)
	case "jobs.wait":
		return client.Jobs.Wait(ctx, what.ID)
	case "jobs.cancel":
		return client.Jobs.Cancel(ctx, what.ID)
	case "jobs.resume":
		return client.Jobs.Resume(ctx, what.ID)
	case "jobs.retry":
		return client.Jobs.Retry(ctx, what.ID)
	case "jobs.delete":
		return nil, client.Jobs.Delete(ctx, what.ID)
	case "jobs.results":
		return listed(ctx, client.Jobs.Results(what.ID, query))
	case "jobs.errors":
		return listed(ctx, client.Jobs.Errors(what.ID, query))
	case "jobs.urls":
		return listed(ctx, client.Jobs.URLs(what.ID, query))
	case "jobs.why":
		return client.Jobs.Why(ctx, what.ID, what.URL)
	case "jobs.stream":
		pages := []scrapifie.Page{}
		err := client.Jobs.Stream(ctx, what.ID, query, func(page *scrapifie.Page) error {
			pages = append(pages, *page)
			return nil
		})
		return pages, err
	case "jobs.events":
		events := []any{}
		err := client.Jobs.Events(ctx, what.ID, scrapifie.EventOptions{}, func(event *scrapifie.Event) error {
			events = append(events, map[string]any{"id": event.ID, "type": event.Type, "data": event.Data})
			return nil
		})
		return events, err
	case "jobs.diff":
		return listed(ctx, client.Jobs.Diff(what.ID, what.Against, query))
	case "jobs.exports":
		return listed(ctx, client.Jobs.Exports(what.ID, query))
	case "exports.create":
		return client.Exports.Create(ctx, what.ID, what.Request)
	case "exports.get":
		return client.Exports.Get(ctx, what.ID)
	case "exports.wait":
		return client.Exports.Wait(ctx, what.ID)
	case "exports.delete":
		return nil, client.Exports.Delete(ctx, what.ID)
	case "exports.download":
		return downloaded(ctx, what.ID)
	case "search":
		return listed(ctx, client.Search(what.Text, query))
	case "query":
		return client.Query(ctx, what.Request)
	case "snapshots.list":
		return listed(ctx, client.Snapshots.List(what.URL, query))
	case "monitors.create":
		return client.Monitors.Create(ctx, what.Request)
	case "monitors.get":
		return client.Monitors.Get(ctx, what.ID)
	case "monitors.list":
		return listed(ctx, client.Monitors.List(query))
	case "monitors.pause":
		return client.Monitors.Pause(ctx, what.ID)
	case "monitors.changes":
		return listed(ctx, client.Monitors.Changes(what.ID, query))
	case "monitors.delete":
		return nil, client.Monitors.Delete(ctx, what.ID)
	case "schedules.create":
		return client.Schedules.Create(ctx, what.Request)
	case "schedules.get":
		return client.Schedules.Get(ctx, what.ID)
	case "schedules.list":
		return listed(ctx, client.Schedules.List(query))
	case "schedules.update":
		return client.Schedules.Update(ctx, what.ID, what.Request)
	case "schedules.pause":
		return client.Schedules.Pause(ctx, what.ID)
	case "schedules.resume":
		return client.Schedules.Resume(ctx, what.ID)
	case "schedules.delete":
		return nil, client.Schedules.Delete(ctx, what.ID)
	case "webhooks.create":
		return client.Webhooks.Create(ctx, what.Request)
	case "webhooks.get":
		return client.Webhooks.Get(ctx, what.ID)
	case "webhooks.list":
		return listed(ctx, client.Webhooks.List(query))
	case "webhooks.update":
		return client.Webhooks.Update(ctx, what.ID, what.Request)
	case "webhooks.deliveries":
		return listed(ctx, client.Webhooks.Deliveries(what.ID, query))
	case "webhooks.delete":
		return nil, client.Webhooks.Delete(ctx, what.ID)
	case "verifyWebhook":
		return verify(what.Request)
	}
	return nil, fmt.Errorf("there is no call %s", what.Call)
}

func listed[T any](ctx context.Context, list *scrapifie.List[T]) (any, error) {
	all, err := list.All(ctx)
	if all == nil {
		all = []T{}
	}
	return all, err
}

func downloaded(ctx context.Context, id string) (any, error) {
	file, err := client.Exports.Download(ctx, id)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(file)
	return string(raw), err
}

func verify(request scrapifie.Object) (any, error) {
	header := http.Header{}
	for name, value := range request["headers"].(map[string]any) {
		header.Set(name, value.(string))
	}
	now := time.Unix(int64(request["now"].(float64)), 0)
	body, secret := []byte(request["body"].(string)), request["secret"].(string)
	return scrapifie.VerifyWebhook(body, header, now, scrapifie.DefaultTolerance, secret)
}

func setFaults(faults []string) error {
	if faults == nil {
		faults = []string{}
	}
	payload, _ := json.Marshal(faults)
	request, err := http.NewRequest(http.MethodPut, server+"/__faults", bytes.NewReader(payload))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func filled(text string, saved scrapifie.Object) string {
	return place.ReplaceAllStringFunc(text, func(found string) string {
		path := strings.Trim(found, "{}")
		if path == "site" {
			return os.Getenv("SITE_URL")
		}
		var at any = map[string]any(saved)
		for _, name := range strings.Split(path, ".") {
			object, _ := at.(map[string]any)
			at = object[name]
		}
		raw, _ := json.Marshal(at)
		return strings.Trim(string(raw), `"`)
	})
}
