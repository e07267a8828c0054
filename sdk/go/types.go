package scrapifie

import (
	"encoding/json"
	"time"
)

// Job is a scrape, batch, crawl or map. Raw has every field of the answer.
type Job struct {
	ID         string      `json:"id"`
	Kind       string      `json:"kind"`
	Status     string      `json:"status"`
	StopReason *string     `json:"stopReason"`
	CreatedAt  time.Time   `json:"createdAt"`
	FinishedAt *time.Time  `json:"finishedAt"`
	Progress   JobProgress `json:"progress"`
	Raw        Object      `json:"-"`
}

// JobProgress counts what became of the URLs of a job.
type JobProgress struct {
	Known     int   `json:"known"`
	Open      int   `json:"open"`
	Pages     int   `json:"pages"`
	Done      int   `json:"done"`
	Failed    int   `json:"failed"`
	Skipped   int   `json:"skipped"`
	Denied    int   `json:"denied"`
	Cancelled int   `json:"cancelled"`
	Bytes     int64 `json:"bytes"`
}

// UnmarshalJSON keeps the fields that the type does not have.
func (j *Job) UnmarshalJSON(raw []byte) error {
	type plain Job
	if err := json.Unmarshal(raw, (*plain)(j)); err != nil {
		return err
	}
	return json.Unmarshal(raw, &j.Raw)
}

// Page is one fetched page. Raw has every field of the answer.
type Page struct {
	URL         string     `json:"url"`
	FinalURL    string     `json:"finalUrl"`
	StatusCode  *int       `json:"statusCode"`
	ContentType *string    `json:"contentType"`
	Title       *string    `json:"title"`
	Markdown    *string    `json:"markdown"`
	Text        *string    `json:"text"`
	HTML        *string    `json:"html"`
	FetchedAt   *time.Time `json:"fetchedAt"`
	Raw         Object     `json:"-"`
}

// UnmarshalJSON keeps the fields that the type does not have.
func (p *Page) UnmarshalJSON(raw []byte) error {
	type plain Page
	if err := json.Unmarshal(raw, (*plain)(p)); err != nil {
		return err
	}
	return json.Unmarshal(raw, &p.Raw)
}
