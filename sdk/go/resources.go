package scrapifie

import (
	"context"
	"net/http"
	"net/url"
)

// Request is the body of a request: its struct, such as ScrapeRequest, or an Object with the names of the API.
type Request interface{ isRequest() }

func (Object) isRequest() {}

// Ptr gives a pointer to a value, for the fields of requests that may be left out.
func Ptr[T any](value T) *T { return &value }

func ask[T any](ctx context.Context, c *Client, what call) (*T, error) {
	var answer T
	if err := c.json(ctx, what, &answer); err != nil {
		return nil, err
	}
	return &answer, nil
}

func get[T any](ctx context.Context, c *Client, path string) (*T, error) {
	return ask[T](ctx, c, call{method: http.MethodGet, path: path})
}

func post[T any](ctx context.Context, c *Client, path string, body any) (*T, error) {
	return ask[T](ctx, c, call{method: http.MethodPost, path: path, body: body})
}

func patch[T any](ctx context.Context, c *Client, path string, body any) (*T, error) {
	return ask[T](ctx, c, call{method: http.MethodPatch, path: path, body: body})
}

// Scrape fetches one page and waits for it.
func (c *Client) Scrape(ctx context.Context, request Request) (*Scrape, error) {
	return post[Scrape](ctx, c, "/v1/scrape", request)
}

// Batch starts a job over a list of URLs.
func (c *Client) Batch(ctx context.Context, request Request) (*AcceptedBatch, error) {
	return post[AcceptedBatch](ctx, c, "/v1/batch", request)
}

// Crawl starts a crawl. Jobs.Wait waits for its end, Jobs.Events tells what happens meanwhile.
func (c *Client) Crawl(ctx context.Context, request Request) (*AcceptedJob, error) {
	return post[AcceptedJob](ctx, c, "/v1/crawl", request)
}

// Map gives URLs of a site, without reading its pages.
func (c *Client) Map(ctx context.Context, request Request) (*Map, error) {
	return post[Map](ctx, c, "/v1/map", request)
}

// Extract gives structured data of a page, by rules, a type or a schema.
func (c *Client) Extract(ctx context.Context, request Request) (*Page, error) {
	return post[Page](ctx, c, "/v1/extract", request)
}

// Account is that of the key.
func (c *Client) Account(ctx context.Context) (*OwnAccount, error) {
	return get[OwnAccount](ctx, c, "/v1/account")
}

// Usage of the account; see GET /v1/usage for the query.
func (c *Client) Usage(query url.Values) *List[Usage] { return newList[Usage](c, "/v1/usage", query) }

// Schedules of the account.
type Schedules struct{ client *Client }

func (s *Schedules) Create(ctx context.Context, request Request) (*Schedule, error) {
	return post[Schedule](ctx, s.client, "/v1/schedules", request)
}

func (s *Schedules) List(query url.Values) *List[Schedule] {
	return newList[Schedule](s.client, "/v1/schedules", query)
}

func (s *Schedules) Get(ctx context.Context, id string) (*Schedule, error) {
	return get[Schedule](ctx, s.client, at("/v1/schedules", id))
}

func (s *Schedules) Update(ctx context.Context, id string, change Request) (*Schedule, error) {
	return patch[Schedule](ctx, s.client, at("/v1/schedules", id), change)
}

func (s *Schedules) Delete(ctx context.Context, id string) error {
	return s.client.json(ctx, call{method: http.MethodDelete, path: at("/v1/schedules", id)}, nil)
}

func (s *Schedules) Run(ctx context.Context, id string) (*ScheduleRun, error) {
	return post[ScheduleRun](ctx, s.client, at("/v1/schedules", id, "run"), nil)
}

func (s *Schedules) Pause(ctx context.Context, id string) (*Schedule, error) {
	return post[Schedule](ctx, s.client, at("/v1/schedules", id, "pause"), nil)
}

func (s *Schedules) Resume(ctx context.Context, id string) (*Schedule, error) {
	return post[Schedule](ctx, s.client, at("/v1/schedules", id, "resume"), nil)
}

func (s *Schedules) Runs(id string, query url.Values) *List[ScheduleRun] {
	return newList[ScheduleRun](s.client, at("/v1/schedules", id, "runs"), query)
}

// Webhooks of the account.
type Webhooks struct{ client *Client }

func (w *Webhooks) Create(ctx context.Context, request Request) (*NewWebhook, error) {
	return post[NewWebhook](ctx, w.client, "/v1/webhooks", request)
}

func (w *Webhooks) List(query url.Values) *List[Webhook] {
	return newList[Webhook](w.client, "/v1/webhooks", query)
}

func (w *Webhooks) Get(ctx context.Context, id string) (*Webhook, error) {
	return get[Webhook](ctx, w.client, at("/v1/webhooks", id))
}

func (w *Webhooks) Update(ctx context.Context, id string, change Request) (*ChangedWebhook, error) {
	return patch[ChangedWebhook](ctx, w.client, at("/v1/webhooks", id), change)
}

func (w *Webhooks) Delete(ctx context.Context, id string) error {
	return w.client.json(ctx, call{method: http.MethodDelete, path: at("/v1/webhooks", id)}, nil)
}

func (w *Webhooks) Rotate(ctx context.Context, id string, request Request) (*NewWebhook, error) {
	return post[NewWebhook](ctx, w.client, at("/v1/webhooks", id, "rotate"), request)
}

func (w *Webhooks) Deliveries(id string, query url.Values) *List[Delivery] {
	return newList[Delivery](w.client, at("/v1/webhooks", id, "deliveries"), query)
}

func (w *Webhooks) Redeliver(ctx context.Context, deliveryID string) (*DeliveryDetail, error) {
	return post[DeliveryDetail](ctx, w.client, at("/v1/deliveries", deliveryID, "redeliver"), nil)
}
