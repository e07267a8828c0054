package scrapifie

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Event of a stream. ID is empty where the stream cannot go on behind the event.
type Event struct {
	ID   string
	Type string
	Data json.RawMessage
}

var errLongLine = errors.New("a line of the stream is too long")

// lineReader gives lines without their ends.
type lineReader struct {
	reader    *bufio.Reader
	mostBytes int64
}

func newLineReader(body io.Reader, mostBytes int64) *lineReader {
	return &lineReader{bufio.NewReaderSize(body, 64<<10), mostBytes}
}

// next is io.EOF behind the last line, and errLongLine for a line of more than mostBytes.
func (l *lineReader) next() (string, error) {
	var line []byte
	for {
		part, err := l.reader.ReadSlice('\n')
		line = append(line, part...)
		if int64(len(line)) > l.mostBytes {
			return "", errLongLine
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && (err != io.EOF || len(line) == 0) {
			return "", err
		}
		return strings.TrimRight(string(line), "\r\n"), nil
	}
}

// nextEvent reads one server-sent event, by the rules of the HTML standard.
func (l *lineReader) nextEvent() (*Event, error) {
	var event Event
	var data []string
	for {
		line, err := l.next()
		if err != nil {
			return nil, err
		}
		if line == "" {
			if len(data) > 0 {
				event.Data = json.RawMessage(strings.Join(data, "\n"))
				if event.Type == "" {
					event.Type = "message"
				}
				return &event, nil
			}
			event = Event{}
			continue
		}
		if strings.HasPrefix(line, ":") {
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			event.ID = value
		case "event":
			event.Type = value
		case "data":
			data = append(data, value)
		}
	}
}
