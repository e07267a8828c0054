package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// mismatch says why a value is not what was expected, as in scenarios/match.ts.
func mismatch(value, expected any, at string) error {
	fields, isObject := expected.(map[string]any)
	if !isObject {
		if reflect.DeepEqual(value, expected) {
			return nil
		}
		return fmt.Errorf("%s is %s, not %s", at, text(value), text(expected))
	}
	for name, wanted := range fields {
		if err := mismatchOf(value, name, wanted, at); err != nil {
			return err
		}
	}
	return nil
}

func mismatchOf(value any, name string, wanted any, at string) error {
	entries, _ := value.([]any)
	switch name {
	case "$length":
		return mismatch(float64(len(entries)), wanted, "length of "+at)
	case "$atLeast":
		size, isNumber := value.(float64)
		if !isNumber {
			size = float64(len(entries))
		}
		if size < wanted.(float64) {
			return fmt.Errorf("%s has or is %v, less than %v", at, size, wanted)
		}
		return nil
	case "$each":
		for index, entry := range entries {
			if err := mismatch(entry, wanted, fmt.Sprintf("%s[%d]", at, index)); err != nil {
				return err
			}
		}
		return nil
	case "$some":
		for _, entry := range entries {
			if mismatch(entry, wanted, at) == nil {
				return nil
			}
		}
		return fmt.Errorf("%s has no entry like %s", at, text(wanted))
	case "$text":
		if given, _ := value.(string); !strings.Contains(given, wanted.(string)) {
			return fmt.Errorf("%s has no %v", at, wanted)
		}
		return nil
	case "$type":
		if typeOf(value) != wanted {
			return fmt.Errorf("%s is a %s, not a %v", at, typeOf(value), wanted)
		}
		return nil
	}
	if strings.HasPrefix(name, "$") {
		return fmt.Errorf("%s is no known expectation", name)
	}
	object, _ := value.(map[string]any)
	return mismatch(object[name], wanted, at+"."+name)
}

func typeOf(value any) string {
	switch value.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "list"
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "boolean"
	}
	return "null"
}

func text(value any) string {
	raw, _ := json.Marshal(value)
	if len(raw) > 200 {
		raw = raw[:200]
	}
	return string(raw)
}
