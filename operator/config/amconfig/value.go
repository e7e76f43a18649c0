package amconfig

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

var (
	errMissing    = errors.New("is missing")
	errEmpty      = errors.New("is empty")
	errEmptyValue = errors.New("the value is empty")
)

// text returns an optional text; "" for nil.
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// enabled reports whether an option is set to true. Options are only written if they are.
func enabled(p *bool) bool { return p != nil && *p }

// checkNotEmpty rejects an empty text.
func checkNotEmpty(field, value string) error {
	if value == "" {
		return faults.At(field, errEmpty)
	}
	return nil
}

// keyValues returns a map; the last of duplicate keys takes precedence.
func keyValues(in []v1alpha1.KeyValue) map[string]string {
	out := make(map[string]string, len(in))
	for _, kv := range in {
		out[kv.Key] = kv.Value
	}
	return out
}

// value reads an optional Secret key; nil means "".
func (c *compiler) value(field string, sel *corev1.SecretKeySelector) (string, error) {
	value, err := c.Secret(sel)
	return value, faults.At(field, err)
}

// needed reads a Secret key and rejects an empty value.
func (c *compiler) needed(field string, sel corev1.SecretKeySelector) (string, error) {
	value, err := c.SecretKey(sel)
	if err == nil && value == "" {
		err = errEmptyValue
	}
	return value, faults.At(field, err)
}

// orGlobal reads a Secret key that may be unset or empty if the base provides the setting.
func (c *compiler) orGlobal(field string, sel *corev1.SecretKeySelector, global bool) (string, error) {
	value, err := c.Secret(sel)
	switch {
	case err != nil || value != "" || global:
	case sel == nil:
		err = errNoGlobal
	default:
		err = errEmptyNoGlobal
	}
	return value, faults.At(field, err)
}

var (
	errNoGlobal      = noGlobalError("is missing, and the global configuration has none")
	errEmptyNoGlobal = errors.New("the value is empty, and the global configuration has none")
)

// noGlobalError is an error about a setting that neither a receiver nor the global configuration has.
type noGlobalError string

// Error returns the reason.
func (e noGlobalError) Error() string { return string(e) }

// LacksGlobal marks the error for packages that do not depend on this one.
func (noGlobalError) LacksGlobal() {}

// secretURL reads a URL from a Secret and trims whitespace.
func (c *compiler) secretURL(field string, sel corev1.SecretKeySelector) (string, error) {
	value, err := c.SecretKey(sel)
	if err != nil {
		return "", faults.At(field, err)
	}
	value = strings.TrimSpace(value)
	return value, c.inSecret(sel, value, checkURL(field, value))
}

// inSecret adds to an error about a URL that it is the value of a key of a Secret, which the field only names.
func (c *compiler) inSecret(sel corev1.SecretKeySelector, value string, err error) error {
	if err == nil {
		return nil
	}
	at := &assets.ContentError{Ref: assets.Ref{Kind: assets.Secret, Namespace: c.Namespace(), Name: sel.Name}, Key: sel.Key, Line: 1, Err: err}
	out := faults.Of(err)[0]
	if out.Cause = at; strings.HasPrefix(out.Reason, "is ") {
		out.Reason = fmt.Sprintf("the value of key %q of %s %s", at.Key, at.Ref, out.Reason)
	}
	host, _, _ := strings.Cut(value, "/")
	if errors.Is(err, errURL) && strings.Contains(host, ".") && checkURL("", "https://"+value) == nil {
		out.Reason += ": write https:// in front of it"
	}
	return &out
}
