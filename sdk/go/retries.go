package scrapifie

import (
	"context"
	"fmt"
	"math/rand"
	"net/http"
	"strconv"
	"time"
)

// RetryOptions say when a request is repeated. The zero value of a field stands for its default.
type RetryOptions struct {
	// MaxRetries is how often a request is repeated after its first try; 4 by default, -1 for never.
	MaxRetries int
	// BaseDelay is the longest pause before the first repetition; it doubles with each. Default 500 ms.
	BaseDelay time.Duration
	// MaxDelay bounds the pauses, unless the server asks for longer ones. Default 8 s.
	MaxDelay time.Duration
	// MaxRetryAfter: a server that asks for a longer pause is not asked again. Default 60 s.
	MaxRetryAfter time.Duration
}

func (o RetryOptions) withDefaults() RetryOptions {
	if o.MaxRetries == 0 {
		o.MaxRetries = 4
	}
	if o.BaseDelay == 0 {
		o.BaseDelay = 500 * time.Millisecond
	}
	if o.MaxDelay == 0 {
		o.MaxDelay = 8 * time.Second
	}
	if o.MaxRetryAfter == 0 {
		o.MaxRetryAfter = time.Minute
	}
	return o
}

// isRetriedAnswer says whether an answer says that the request may work later. 502 and 504 with a code of the server are
// about the page that was asked for, which the server has tried several times itself; without one they come from a proxy
// in between.
func isRetriedAnswer(status int, code string) bool {
	switch status {
	case 408, 425, 429, 500, 503:
		return true
	case 502, 504:
		return code == proxyCode(status)
	}
	return false
}

// proxyCode is the code of an answer that is not the server's own.
func proxyCode(status int) string { return fmt.Sprintf("HTTP_%d", status) }

// retryAfterOf reads Retry-After: seconds, or a date, by the clock of the server, whose Date comes along. Zero when there is
// none or it cannot be read.
func retryAfterOf(headers http.Header, now time.Time) time.Duration {
	header := headers.Get("Retry-After")
	if sent, err := http.ParseTime(headers.Get("Date")); err == nil {
		now = sent
	}
	if seconds, err := strconv.ParseFloat(header, 64); err == nil {
		return max(0, time.Duration(seconds*float64(time.Second)))
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// delayBefore is the pause before a repetition (0 is the first): full jitter, never shorter than the server asked for.
func delayBefore(attempt int, asked time.Duration, o RetryOptions) time.Duration {
	if asked > 0 {
		return asked + time.Duration(rand.Float64()*float64(o.BaseDelay))
	}
	most := o.BaseDelay << min(attempt, 20)
	if most > o.MaxDelay {
		most = o.MaxDelay
	}
	return time.Duration(rand.Float64() * float64(most))
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func max(a, b time.Duration) time.Duration {
	if a > b {
		return a
	}
	return b
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}
