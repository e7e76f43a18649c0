package promconfig

import (
	"bytes"
	"errors"
	"strings"

	yamlv2 "go.yaml.in/yaml/v2"
)

var errNullExpression = errors.New("a regex is null or ~, which changes the default of all steps of the server; write (?:null) or (?:~)")

// expression is a regular expression as it is written. The YAML reader of Prometheus takes null
// and ~ for no value, quoted or not, and then changes the default expression of all steps of
// the process; in a group they mean the same.
func expression(text string) string {
	if text == "null" || text == "~" {
		return "(?:" + text + ")"
	}
	return text
}

// CheckExpressions refuses YAML that must not be read into a relabel.Config, see expression:
// a document, a list of jobs or a list of steps. Text that is no YAML is fine.
func CheckExpressions(text []byte) error {
	if !bytes.Contains(text, []byte("null")) && !bytes.Contains(text, []byte("~")) {
		return nil
	}
	var doc any
	if yamlv2.Unmarshal(text, &doc) == nil && nullExpression(doc, stepsKey) {
		return errNullExpression
	}
	return nil
}

// stepsKey ends the keys of lists of steps.
const stepsKey = "relabel_configs"

// nullExpression reports whether a step in a value has such an expression. key is the one of
// the value.
func nullExpression(v any, key string) bool {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if nullExpression(item, key) {
				return true
			}
		}
	case map[any]any:
		if text, is := v["regex"].(string); is && strings.HasSuffix(key, stepsKey) && expression(text) != text {
			return true
		}
		for name, member := range v {
			if below, is := name.(string); is && nullExpression(member, below) {
				return true
			}
		}
	}
	return false
}
