package scrapifie

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
)

// List goes through a list of the server, page after page, each asked for when it is needed:
//
//	list := client.Jobs.Results(id, nil)
//	for list.Next(ctx) {
//		fmt.Println(list.Item().URL)
//	}
//	if err := list.Err(); err != nil { … }
type List[T any] struct {
	client *Client
	path   string
	query  url.Values
	items  []T
	item   T
	cursor *string
	isOver bool
	err    error
}

// ListPage is one page of a list. NextCursor is nil at the end.
type ListPage[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"nextCursor"`
}

func newList[T any](client *Client, path string, query url.Values) *List[T] {
	return &List[T]{client: client, path: path, query: query}
}

// Next goes on to the next entry and says whether there is one.
func (l *List[T]) Next(ctx context.Context) bool {
	for len(l.items) == 0 {
		if l.isOver || l.err != nil {
			return false
		}
		page, err := l.Page(ctx, l.cursor)
		if err != nil {
			l.err = err
			return false
		}
		l.items, l.cursor, l.isOver = page.Items, page.NextCursor, page.NextCursor == nil
	}
	l.item, l.items = l.items[0], l.items[1:]
	return true
}

// Item is the entry that Next went on to.
func (l *List[T]) Item() T { return l.item }

// Err is why the list ended early; nil when it did not.
func (l *List[T]) Err() error { return l.err }

// Page asks for one page; a nil cursor is the beginning. A page whose cursor is the one that was sent would be followed for
// ever: it is a BAD_ANSWER.
func (l *List[T]) Page(ctx context.Context, cursor *string) (*ListPage[T], error) {
	query := url.Values{}
	for name, values := range l.query {
		query[name] = values
	}
	if cursor != nil {
		query.Set("cursor", *cursor)
	}
	var page ListPage[T]
	what := call{method: "GET", path: l.path, query: query}
	if err := l.client.json(ctx, what, &page); err != nil {
		return nil, err
	}
	if page.Items == nil {
		return nil, badAnswer(what, errors.New("the page of the list has no items"))
	}
	if cursor != nil && page.NextCursor != nil && *page.NextCursor == *cursor {
		return nil, badAnswer(what, errors.New("the cursor of the next page is that of this page"))
	}
	return &page, nil
}

// All gives every entry; for lists that are known to be short.
func (l *List[T]) All(ctx context.Context) ([]T, error) {
	var items []T
	for l.Next(ctx) {
		items = append(items, l.Item())
	}
	return items, l.Err()
}

// Object is what the API takes or answers where this client has no type of its own.
type Object map[string]any

// at joins a path with the name of one of its entries.
func at(path, name string, rest ...string) string {
	joined := path + "/" + url.PathEscape(name)
	for _, each := range rest {
		joined += "/" + each
	}
	return joined
}

func decode[T any](raw []byte) (T, error) {
	var value T
	err := json.Unmarshal(raw, &value)
	return value, err
}

// with gives the query with one more parameter.
func with(query url.Values, name, value string) url.Values {
	all := url.Values{}
	for each, values := range query {
		all[each] = values
	}
	all.Set(name, value)
	return all
}
