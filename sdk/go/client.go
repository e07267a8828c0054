// Package scrapifie is a client of the Scrapifie API.
//
// Requests are repeated when the connection fails and for the statuses 408, 425, 429, 500 and 503 (502 and 504 from a
// proxy in between), after the pause that the server asks for. Requests that create something carry an Idempotency-Key, so that repeating them
// creates nothing twice.
package scrapifie

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options of a client.
type Options struct {
	// BaseURL is where the server is, such as http://127.0.0.1:3000.
	BaseURL string
	APIKey  string
	// HTTPClient is used in place of one of the client's own.
	HTTPClient *http.Client
	// Timeout is the limit of one try, up to the head of the answer; 2 minutes by default. Waiting for a page counts.
	Timeout time.Duration
	Retries RetryOptions
	// MaxAnswerBytes bounds an answer and a line of a stream; 256 MiB by default. A longer one is a BAD_ANSWER.
	MaxAnswerBytes int64
}

// Client of one Scrapifie server. It may be used by several goroutines at once.
type Client struct {
	Jobs      *Jobs
	Exports   *Exports
	Snapshots *Snapshots
	Monitors  *Monitors
	Schedules *Schedules
	Webhooks  *Webhooks

	base    string
	apiKey  string
	http    *http.Client
	timeout time.Duration
	retries RetryOptions
	// maxAnswerBytes bounds an answer and a line of a stream.
	maxAnswerBytes int64
}

const (
	defaultAnswerBytes = 256 << 20
	mostErrorBytes     = 1 << 20
)

// New makes a client.
func New(options Options) *Client {
	client := &Client{
		base:    strings.TrimRight(options.BaseURL, "/"),
		apiKey:  options.APIKey,
		http:    options.HTTPClient,
		timeout: options.Timeout,
		retries: options.Retries.withDefaults(),

		maxAnswerBytes: options.MaxAnswerBytes,
	}
	if client.maxAnswerBytes == 0 {
		client.maxAnswerBytes = defaultAnswerBytes
	}
	if client.http == nil {
		client.http = &http.Client{}
	}
	if client.timeout == 0 {
		client.timeout = 2 * time.Minute
	}
	client.Jobs = &Jobs{client}
	client.Exports = &Exports{client}
	client.Snapshots = &Snapshots{client}
	client.Monitors = &Monitors{client}
	client.Schedules = &Schedules{client}
	client.Webhooks = &Webhooks{client}
	return client
}

type call struct {
	method string
	path   string
	query  url.Values
	body   any
	accept string
	header http.Header
}

type keyOfIdempotency struct{}

// WithIdempotencyKey makes the requests under this context carry the key; without it one is made up for each.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyOfIdempotency{}, key)
}

// json sends the call and reads `data` of the answer into result, which may be nil.
func (c *Client) json(ctx context.Context, what call, result any) error {
	return c.repeated(ctx, what, func(response *http.Response) error {
		defer response.Body.Close()
		raw, err := io.ReadAll(io.LimitReader(response.Body, c.maxAnswerBytes+1))
		if err != nil {
			return connectionError(what, err)
		}
		if int64(len(raw)) > c.maxAnswerBytes {
			return badAnswer(what, fmt.Errorf("the answer has more than %d bytes", c.maxAnswerBytes))
		}
		var answer struct {
			Data json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			return badAnswer(what, err)
		}
		if !bytes.HasPrefix(answer.Data, []byte("{")) {
			return badAnswer(what, errors.New("the answer is JSON without the data of an answer"))
		}
		if result == nil {
			return nil
		}
		if err := json.Unmarshal(answer.Data, result); err != nil {
			return badAnswer(what, err)
		}
		return nil
	})
}

// open sends the call; the body of the answer is the caller's to read and to close. An answer of another content type, such
// as the HTML page of a proxy, is a BAD_ANSWER.
func (c *Client) open(ctx context.Context, what call) (*http.Response, error) {
	var opened *http.Response
	err := c.repeated(ctx, what, func(response *http.Response) error {
		kind := response.Header.Get("Content-Type")
		if what.accept != "*/*" && !strings.HasPrefix(strings.ToLower(kind), what.accept) {
			response.Body.Close()
			return badAnswer(what, fmt.Errorf("the answer has the content type %q, not %s", kind, what.accept))
		}
		opened = response
		return nil
	})
	return opened, err
}

func (c *Client) repeated(ctx context.Context, what call, read func(*http.Response) error) error {
	header, payload, err := c.prepare(ctx, what)
	if err != nil {
		return err
	}
	for attempt := 0; ; attempt++ {
		err := c.try(ctx, what, header, payload, read)
		if err == nil || ctx.Err() != nil {
			return firstOf(ctx.Err(), err)
		}
		known, isKnown := err.(*Error)
		isRetried := isKnown && (known.Code == CodeConnectionFailed || isRetriedAnswer(known.Status, known.Code))
		if !isRetried || attempt >= c.retries.MaxRetries || known.RetryAfter > c.retries.MaxRetryAfter {
			return err
		}
		if err := pause(ctx, delayBefore(attempt, known.RetryAfter, c.retries)); err != nil {
			return err
		}
	}
}

// prepare makes what is the same in every try: the key above all, so that a request whose answer was lost creates
// nothing twice.
func (c *Client) prepare(ctx context.Context, what call) (http.Header, []byte, error) {
	header := http.Header{}
	for name, values := range what.header {
		header[name] = values
	}
	header.Set("Authorization", "Bearer "+c.apiKey)
	header.Set("Accept", "application/json")
	if what.accept != "" {
		header.Set("Accept", what.accept)
	}
	if what.method == http.MethodPost {
		key, _ := ctx.Value(keyOfIdempotency{}).(string)
		if key == "" {
			key = newKey()
		}
		header.Set("Idempotency-Key", key)
	}
	if what.body == nil {
		return header, nil, nil
	}
	payload, err := json.Marshal(what.body)
	header.Set("Content-Type", "application/json")
	return header, payload, err
}

func (c *Client) try(
	ctx context.Context, what call, header http.Header, payload []byte, read func(*http.Response) error,
) error {
	tried, cancel := context.WithCancel(ctx)
	limit := time.AfterFunc(c.timeout, cancel)
	address := c.base + what.path
	if len(what.query) > 0 {
		address += "?" + what.query.Encode()
	}
	request, err := http.NewRequestWithContext(tried, what.method, address, bytes.NewReader(payload))
	if err != nil {
		cancel()
		return err
	}
	request.Header = header.Clone()
	response, err := c.http.Do(request)
	isLate := !limit.Stop()
	if err != nil {
		cancel()
		if isLate && ctx.Err() == nil {
			err = fmt.Errorf("no answer within %s", c.timeout)
		}
		return connectionError(what, err)
	}
	response.Body = &cancellingBody{response.Body, cancel}
	if response.StatusCode >= 400 {
		defer response.Body.Close()
		return errorOf(response)
	}
	return read(response)
}

// cancellingBody frees what belongs to a try when its answer is closed.
type cancellingBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *cancellingBody) Close() error {
	err := b.ReadCloser.Close()
	b.cancel()
	return err
}

func connectionError(what call, err error) *Error {
	message := fmt.Sprintf("%s %s: %v", what.method, what.path, err)
	return &Error{Code: CodeConnectionFailed, Message: message, Retryable: true, cause: err}
}

func badAnswer(what call, err error) *Error {
	return &Error{Code: CodeBadAnswer, Message: fmt.Sprintf("%s %s: %v", what.method, what.path, err), cause: err}
}

// errorOf reads the error of an answer. A proxy in between answers with bodies of its own.
func errorOf(response *http.Response) *Error {
	var answer struct {
		Error struct {
			Code      string          `json:"code"`
			Message   string          `json:"message"`
			Retryable bool            `json:"retryable"`
			Details   json.RawMessage `json:"details"`
		} `json:"error"`
	}
	raw, _ := io.ReadAll(io.LimitReader(response.Body, mostErrorBytes))
	status := response.StatusCode
	known := &Error{
		Status:     status,
		RequestID:  response.Header.Get("X-Request-Id"),
		RetryAfter: retryAfterOf(response.Header, time.Now()),
	}
	if json.Unmarshal(raw, &answer) == nil && answer.Error.Code != "" {
		known.Code, known.Message = answer.Error.Code, answer.Error.Message
		known.Retryable, known.Details = answer.Error.Retryable, answer.Error.Details
		return known
	}
	known.Code = proxyCode(status)
	known.Message = fmt.Sprintf("the answer has the status %d", status)
	known.Retryable = isRetriedAnswer(status, known.Code)
	return known
}

func newKey() string {
	var bytes [16]byte
	if _, err := rand.Read(bytes[:]); err != nil {
		panic(err)
	}
	return hex.EncodeToString(bytes[:])
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
