package scrapifie

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WebhookEvent is what a webhook tells.
type WebhookEvent struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Timestamp time.Time       `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

// DefaultTolerance is how far the time of a webhook may be from now.
const DefaultTolerance = 5 * time.Minute

// VerifyWebhook verifies a webhook and returns its event. The body is as it came, before any parsing; several secrets are
// tried while one is being rotated. The code of its error is BAD_SIGNATURE.
func VerifyWebhook(body []byte, header http.Header, now time.Time, tolerance time.Duration, secrets ...string) (*WebhookEvent, error) {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	signatures := header.Get("webhook-signature")
	if id == "" || timestamp == "" || signatures == "" {
		return nil, badSignature("the headers of a signed webhook are missing")
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return nil, badSignature("webhook-timestamp is no time")
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return nil, badSignature("the message is too old or too new")
	}
	for _, secret := range secrets {
		key, err := keyOf(secret)
		if err != nil {
			return nil, badSignature("the secret is not in base64")
		}
		digest := hmac.New(sha256.New, key)
		digest.Write([]byte(id + "." + timestamp + "."))
		digest.Write(body)
		sum := digest.Sum(nil)
		for _, each := range strings.Split(signatures, " ") {
			given, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(each, "v1,"))
			if strings.HasPrefix(each, "v1,") && err == nil && hmac.Equal(sum, given) {
				var event WebhookEvent
				return &event, json.Unmarshal(body, &event)
			}
		}
	}
	return nil, badSignature("no signature fits")
}

// keyOf reads a secret: behind whsec_ stands a key in base64; any other secret is the key itself.
func keyOf(secret string) ([]byte, error) {
	if !strings.HasPrefix(secret, "whsec_") {
		return []byte(secret), nil
	}
	return base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
}

func badSignature(message string) *Error { return &Error{Code: CodeBadSignature, Message: message} }
