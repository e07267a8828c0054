package scrapifie

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
)

// Event of a stream. ID is empty where the stream cannot go on behind the event.
type Event struct {
	ID   string
	Type string
	Data json.RawMessage
}

// lineReader gives lines of any length without their ends.
type lineReader struct {
	reader *bufio.Reader
	closer io.Closer
}

func newLineReader(body io.ReadCloser) *lineReader {
	return &lineReader{bufio.NewReaderSize(body, 64<<10), body}
}

// next is io.EOF behind the last line.
func (l *lineReader) next() (string, error) {
	line, err := l.reader.ReadString('\n')
	if err != nil && line == "" {
		return "", err
	}
	if err != nil && err != io.EOF {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
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
