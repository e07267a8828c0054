package scrapifie

import (
	"context"
	"net/http"
	"net/url"
)

func (c *Client) object(ctx context.Context, method, path string, body any) (Object, error) {
	var answer Object
	err := c.json(ctx, call{method: method, path: path, body: body}, &answer)
	return answer, err
}

func (c *Client) job(ctx context.Context, path string, request Object) (*Job, error) {
	var job Job
	if err := c.json(ctx, call{method: http.MethodPost, path: path, body: request}, &job); err != nil {
		return nil, err
	}
	return &job, nil
}

// Scrape fetches one page and waits for it. The fields of the request are those of POST /v1/scrape.
func (c *Client) Scrape(ctx context.Context, request Object) (*Page, error) {
	var page Page
	if err := c.json(ctx, call{method: http.MethodPost, path: "/v1/scrape", body: request}, &page); err != nil {
		return nil, err
	}
	return &page, nil
}

// Batch starts a job over a list of URLs.
func (c *Client) Batch(ctx context.Context, request Object) (*Job, error) {
	return c.job(ctx, "/v1/batch", request)
}

// Crawl starts a crawl. Jobs.Wait waits for its end, Jobs.Events tells what happens meanwhile.
func (c *Client) Crawl(ctx context.Context, request Object) (*Job, error) {
	return c.job(ctx, "/v1/crawl", request)
}

// Map gives URLs of a site, without reading its pages.
func (c *Client) Map(ctx context.Context, request Object) (Object, error) {
	return c.object(ctx, http.MethodPost, "/v1/map", request)
}

// Extract gives structured data of a page, by rules, a type or a schema.
func (c *Client) Extract(ctx context.Context, request Object) (Object, error) {
	return c.object(ctx, http.MethodPost, "/v1/extract", request)
}

// Account is that of the key.
func (c *Client) Account(ctx context.Context) (Object, error) {
	return c.object(ctx, http.MethodGet, "/v1/account", nil)
}

// Usage of the account; see GET /v1/usage for the query.
func (c *Client) Usage(query url.Values) *List[Object] { return newList[Object](c, "/v1/usage", query) }

// Schedules of the account.
type Schedules struct{ client *Client }

func (s *Schedules) Create(ctx context.Context, request Object) (Object, error) {
	return s.client.object(ctx, http.MethodPost, "/v1/schedules", request)
}

func (s *Schedules) List(query url.Values) *List[Object] {
	return newList[Object](s.client, "/v1/schedules", query)
}

func (s *Schedules) Get(ctx context.Context, id string) (Object, error) {
	return s.client.object(ctx, http.MethodGet, at("/v1/schedules", id), nil)
}

func (s *Schedules) Update(ctx context.Context, id string, change Object) (Object, error) {
	return s.client.object(ctx, http.MethodPatch, at("/v1/schedules", id), change)
}

func (s *Schedules) Delete(ctx context.Context, id string) error {
	return s.client.json(ctx, call{method: http.MethodDelete, path: at("/v1/schedules", id)}, nil)
}

func (s *Schedules) Run(ctx context.Context, id string) (Object, error) {
	return s.client.object(ctx, http.MethodPost, at("/v1/schedules", id, "run"), nil)
}

func (s *Schedules) Pause(ctx context.Context, id string) (Object, error) {
	return s.client.object(ctx, http.MethodPost, at("/v1/schedules", id, "pause"), nil)
}

func (s *Schedules) Resume(ctx context.Context, id string) (Object, error) {
	return s.client.object(ctx, http.MethodPost, at("/v1/schedules", id, "resume"), nil)
}

func (s *Schedules) Runs(id string, query url.Values) *List[Object] {
	return newList[Object](s.client, at("/v1/schedules", id, "runs"), query)
}

// Webhooks of the account.
type Webhooks struct{ client *Client }

func (w *Webhooks) Create(ctx context.Context, request Object) (Object, error) {
	return w.client.object(ctx, http.MethodPost, "/v1/webhooks", request)
}

func (w *Webhooks) List(query url.Values) *List[Object] {
	return newList[Object](w.client, "/v1/webhooks", query)
}

func (w *Webhooks) Get(ctx context.Context, id string) (Object, error) {
	return w.client.object(ctx, http.MethodGet, at("/v1/webhooks", id), nil)
}

func (w *Webhooks) Update(ctx context.Context, id string, change Object) (Object, error) {
	return w.client.object(ctx, http.MethodPatch, at("/v1/webhooks", id), change)
}

func (w *Webhooks) Delete(ctx context.Context, id string) error {
	return w.client.json(ctx, call{method: http.MethodDelete, path: at("/v1/webhooks", id)}, nil)
}

func (w *Webhooks) Rotate(ctx context.Context, id string, request Object) (Object, error) {
	return w.client.object(ctx, http.MethodPost, at("/v1/webhooks", id, "rotate"), request)
}

func (w *Webhooks) Deliveries(id string, query url.Values) *List[Object] {
	return newList[Object](w.client, at("/v1/webhooks", id, "deliveries"), query)
}

func (w *Webhooks) Redeliver(ctx context.Context, deliveryID string) (Object, error) {
	return w.client.object(ctx, http.MethodPost, at("/v1/deliveries", deliveryID, "redeliver"), nil)
}
