package scrapifie

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Codes of errors that the client itself makes. All other codes are the server's.
const (
	CodeConnectionFailed = "CONNECTION_FAILED"
	// CodeBadAnswer: the server, or a proxy in between, answered with success and a body that is no answer of the API: a
	// page of HTML, JSON without data, a body beyond MaxAnswerBytes, a cursor that leads nowhere. It is not asked for again.
	CodeBadAnswer    = "BAD_ANSWER"
	CodeJobFailed    = "JOB_FAILED"
	CodeBadSignature = "BAD_SIGNATURE"
)

// Error is what the server answered when a request failed, or what the client says when it could not be sent.
type Error struct {
	// Code is stable; Message is for people.
	Code    string
	Message string
	// Status is that of the error that was answered; 0 when there was no such answer.
	Status int
	// Retryable says whether the same request may work after a pause.
	Retryable bool
	// Details has one entry for each wrong field, or whatever else the server adds to its code.
	Details json.RawMessage
	// RequestID names the request in the server's log.
	RequestID string
	// RetryAfter is the pause that the server asked for; 0 when it asked for none.
	RetryAfter time.Duration
	cause      error
}

// FieldProblem is one wrong field of a request.
type FieldProblem struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (e *Error) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("scrapifie: %s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("scrapifie: %s (%d): %s", e.Code, e.Status, e.Message)
}

// Unwrap gives what made the connection fail or the answer unreadable.
func (e *Error) Unwrap() error { return e.cause }

// Problems are the wrong fields of a request that was answered with VALIDATION_FAILED.
func (e *Error) Problems() []FieldProblem {
	var problems []FieldProblem
	if json.Unmarshal(e.Details, &problems) != nil {
		return nil
	}
	return problems
}

// CodeOf is the code of an error of this client, and empty for any other error.
func CodeOf(err error) string {
	var known *Error
	if errors.As(err, &known) {
		return known.Code
	}
	return ""
}

// IsNotFound says whether there is no such resource for this account, or none any more.
func IsNotFound(err error) bool { return hasStatus(err, 404, 410) }

// IsRateLimited says whether the server had too much to do, after all retries.
func IsRateLimited(err error) bool { return hasStatus(err, 429) }

// IsUnauthenticated says whether the key is missing, unknown, expired or revoked.
func IsUnauthenticated(err error) bool { return hasStatus(err, 401) }

func hasStatus(err error, statuses ...int) bool {
	var known *Error
	if !errors.As(err, &known) {
		return false
	}
	for _, status := range statuses {
		if known.Status == status {
			return true
		}
	}
	return false
}

// JobFailedError is returned for a job that was waited for and has failed or was cancelled.
type JobFailedError struct{ Job *Job }

func (e *JobFailedError) Error() string {
	return fmt.Sprintf("scrapifie: %s: the job %s has ended as %s", CodeJobFailed, e.Job.ID, e.Job.Status)
}
