package workload

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Check is one row of a table of checks. In is the input of the table. Errors of a check
// without a field name the field themselves.
type Check[In any] struct {
	Field string
	Fault func(In) error
}

// faultsOf returns the errors of a table, one for each row at most, with the paths of their fields. Checks
// give the path within the field of their row.
func faultsOf[In any](checks []Check[In], in In) error {
	var all faults.List
	for _, c := range checks {
		all.Add(c.Field, c.Fault(in))
	}
	return all.Err()
}

// CheckSpec returns the error of the version of a workload or, without one, the errors of the fields that every kind has
// and of a table.
func CheckSpec[In any](b *Base, checks []Check[In], in In) error {
	if b.Err != nil {
		return b.Err
	}
	var all faults.List
	all.Add("spec.replicas", v1.CheckReplicas(b.Fields.Replicas))
	all.Add("", b.WebConfig().Check())
	all.Add("", faultsOf(checks, in))
	return all.Err()
}

// Common checks.

// Each checks each element of a list.
func Each[In, T any](list func(In) []T, fault func(T) error) func(In) error {
	return func(in In) error {
		for i, element := range list(in) {
			if err := faults.At(faults.Index("", i), fault(element)); err != nil {
				return err
			}
		}
		return nil
	}
}

// errNotPositive is the error of a duration that must not be 0.
var errNotPositive = errors.New("must be longer than 0")

// Duration checks a duration as Prometheus and Thanos parse it. Empty is valid.
func Duration[In any](get func(In) v1.Duration) func(In) error {
	return func(in In) error {
		text := string(get(in))
		if text == "" {
			return nil
		}
		if _, err := model.ParseDuration(text); err != nil {
			return fmt.Errorf("%w; write one such as 30s, 5m or 1h30m", err)
		}
		return nil
	}
}

// PositiveDuration is like [Duration], but rejects 0.
func PositiveDuration[In any](get func(In) v1.Duration) func(In) error {
	valid := Duration(get)
	return func(in In) error {
		if d, err := model.ParseDuration(string(get(in))); err == nil && d == 0 {
			return errNotPositive
		}
		return valid(in)
	}
}

// GoDuration checks a duration as Go parses it, which must not be negative. Empty is valid.
func GoDuration[In any](get func(In) v1.GoDuration) func(In) error {
	return func(in In) error {
		text := string(get(in))
		if text == "" {
			return nil
		}
		d, err := time.ParseDuration(text)
		if d < 0 {
			return errNotPositive
		}
		return err
	}
}

// PositiveGoDuration is like [GoDuration], but rejects 0.
func PositiveGoDuration[In any](get func(In) v1.GoDuration) func(In) error {
	valid := GoDuration(get)
	return func(in In) error {
		if d, err := time.ParseDuration(string(get(in))); err == nil && d == 0 {
			return errNotPositive
		}
		return valid(in)
	}
}

// ParseURL parses a URL. Its errors do not contain the URL, which may have a password.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("not a valid URL")
	}
	return u, nil
}

// NonEmptyName rejects an empty name of an object.
func NonEmptyName(name string) error {
	if name == "" {
		return errors.New("must not be empty")
	}
	return nil
}

// KeyToMount rejects a reference without a name or a key, which volumes require. nil is valid.
func KeyToMount(s *corev1.SecretKeySelector) error {
	if s == nil {
		return nil
	}
	return nameAndKey(s.Name, s.Key)
}

// ConfigMapKeyToMount is like [KeyToMount] for a ConfigMap.
func ConfigMapKeyToMount(s *corev1.ConfigMapKeySelector) error {
	if s == nil {
		return nil
	}
	return nameAndKey(s.Name, s.Key)
}

func nameAndKey(name, key string) error {
	if name == "" || key == "" {
		return errors.New("needs a name and a key")
	}
	return nil
}
