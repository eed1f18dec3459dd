package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// accepts checks a JSON value against a schema, for the keywords that output schemas
// use; any other keyword fails the test.
func accepts(t testing.TB, schema, value []byte) {
	t.Helper()
	var s map[string]any
	var v any
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber() // numbers of records may be beyond a float64
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("structured output is not JSON: %v\n%.2000s", err, value)
	}
	if err := violation(s, v); err != nil {
		t.Fatalf("structured output breaks its schema: %v\n%.2000s", err, value)
	}
}

// violation is the first reason why a schema does not accept a value.
func violation(schema map[string]any, v any) error {
	for keyword, want := range schema {
		var err error
		switch keyword {
		case "type":
			err = typeViolation(want, v)
		case "required":
			object, _ := v.(map[string]any)
			for _, name := range want.([]any) {
				if _, ok := object[name.(string)]; !ok {
					err = fmt.Errorf("%s is missing", name)
				}
			}
		case "properties":
			err = propertiesViolation(want.(map[string]any), v)
		case "items":
			for _, item := range asList(v) {
				if e := violation(want.(map[string]any), item); e != nil {
					err = e
				}
			}
		case "anyOf":
			if !slices.ContainsFunc(want.([]any), func(s any) bool { return violation(s.(map[string]any), v) == nil }) {
				err = fmt.Errorf("none of anyOf holds")
			}
		default:
			err = fmt.Errorf("keyword %s is not known here", keyword)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func propertiesViolation(properties map[string]any, v any) error {
	object, _ := v.(map[string]any)
	for name, s := range properties {
		if member, ok := object[name]; ok {
			if err := violation(s.(map[string]any), member); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

func typeViolation(want, v any) error {
	types := asList(want)
	if types == nil {
		types = []any{want}
	}
	got := jsonType(v)
	if slices.Contains(types, any(got)) || got == "integer" && slices.Contains(types, any("number")) {
		return nil
	}
	return fmt.Errorf("a %s where %v is wanted", got, want)
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

func jsonType(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}
