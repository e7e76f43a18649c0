package promconfig

import (
	"bytes"
	"errors"
	"strings"

	yamlv2 "go.yaml.in/yaml/v2"
)

var errNullExpression = errors.New("a regex is null or ~, which changes the default of all steps of the server; write (?:null) or (?:~)")

// expression returns the regular expression to write. The YAML decoder of Prometheus interprets
// null and ~ as no value, quoted or not, and then changes the default expression of all steps
// in the process. Enclosed in a group, they are read literally.
func expression(text string) string {
	if text == "null" || text == "~" {
		return "(?:" + text + ")"
	}
	return text
}

// CheckExpressions rejects YAML that must not be decoded to a relabel.Config, see expression.
// The text is a document, a list of jobs or a list of steps. It accepts text that is not YAML.
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

// stepsKey is the suffix of keys that hold relabel steps.
const stepsKey = "relabel_configs"

// nullExpression reports whether a value contains a step with such an expression. key is the key of the value.
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
