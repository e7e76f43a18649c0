package promconfig

import (
	"bytes"
	"errors"
	"strings"

	yamlv2 "go.yaml.in/yaml/v2"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
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
	if yamlv2.Unmarshal(text, &doc) != nil {
		return nil
	}
	if !eachExpression(doc, stepsKey, func(text string) bool { return expression(text) == text }) {
		return errNullExpression
	}
	return nil
}

// stepsKey is the suffix of keys that hold relabel steps.
const stepsKey = "relabel_configs"

// eachExpression calls yield for the regular expressions of all relabel steps in a YAML value, until it
// returns false. key is the key of the value. It reports whether yield never returned false.
func eachExpression(v any, key string, yield func(text string) bool) bool {
	member := func(name, value any) bool {
		below, _ := name.(string)
		if text, is := value.(string); is && below == "regex" && strings.HasSuffix(key, stepsKey) && !yield(text) {
			return false
		}
		return eachExpression(value, below, yield)
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if !eachExpression(item, key, yield) {
				return false
			}
		}
	case map[any]any:
		for name, value := range v {
			if !member(name, value) {
				return false
			}
		}
	case gate.Node:
		for _, pair := range v {
			if !member(pair.Key, pair.Value) {
				return false
			}
		}
	}
	return true
}
