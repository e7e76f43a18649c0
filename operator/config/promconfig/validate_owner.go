package promconfig

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/alecthomas/units"
	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// checkOwner rejects fields that Prometheus would reject, if they can be checked on their
// own. The patterns of the CRD cannot limit the range of numbers.
func checkOwner(f *v1.CommonPrometheusFields, t gate.Target) error {
	if err := v1.CheckShards(f.Shards); err != nil {
		return faults.At("shards", err)
	}
	if err := v1.CheckReplicas(f.Replicas); err != nil {
		return faults.At("replicas", err)
	}
	if f.NameValidationScheme == v1.LegacyNameValidationScheme && f.NameEscapingScheme == v1.AllowUTF8NameEscapingScheme && t.AtLeast("3.4.0") {
		return faults.At("nameEscapingScheme", fmt.Errorf("%s conflicts with nameValidationScheme %s", f.NameEscapingScheme, f.NameValidationScheme))
	}
	return checkScalars("", reflect.ValueOf(f).Elem())
}

// checkScalars checks all durations and sizes in a value of our API.
func checkScalars(path string, v reflect.Value) error {
	switch value := v.Interface().(type) {
	case v1.Duration:
		return scalarError(path, "duration", string(value), checkedDuration)
	case v1.NonEmptyDuration:
		return scalarError(path, "duration", string(value), checkedDuration)
	case v1.ByteSize:
		return scalarError(path, "size", string(value), checkedSize)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return checkScalars(path, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := checkScalars(path+"["+strconv.Itoa(i)+"]", v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return checkScalarFields(path, v)
	}
	return nil
}

func checkScalarFields(path string, v reflect.Value) error {
	if !strings.HasSuffix(v.Type().PkgPath(), "/api/monitoring/v1") { // types of Kubernetes have none
		return nil
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "":
			name = path // inlined
		case path != "":
			name = path + "." + name
		}
		if err := checkScalars(name, v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

func scalarError(path, what, text string, check func(string) error) error {
	if text != "" && check(text) != nil {
		return faults.At(path, fmt.Errorf("%q is not a %s that Prometheus accepts", text, what))
	}
	return nil
}

func checkedDuration(text string) error {
	_, err := model.ParseDuration(text)
	return err
}

func checkedSize(text string) error {
	_, err := units.ParseBase2Bytes(text)
	return err
}

// checkQueue applies the rules of recent servers, with their defaults for missing values.
// Older servers do not validate them.
func checkQueue(q *v1.QueueConfig, t gate.Target) error {
	if q == nil {
		return nil
	}
	for _, n := range []struct {
		field string
		value int
	}{{"capacity", q.Capacity}, {"minShards", q.MinShards}, {"maxShards", q.MaxShards}, {"maxSamplesPerSend", q.MaxSamplesPerSend}} {
		if n.value < 0 {
			return faults.At(n.field, errors.New("must not be negative"))
		}
	}
	if !t.AtLeast("3.8.0,thanos=never") {
		return nil
	}
	most := cmp.Or(q.MaxShards, 50)
	if q.MinShards > most {
		return faults.At("minShards", fmt.Errorf("%d is more than maxShards, %d", q.MinShards, most))
	}
	least, longest := cmp.Or(q.MinBackoff, "30ms"), cmp.Or(q.MaxBackoff, "5s")
	a, errA := model.ParseDuration(string(least))
	b, errB := model.ParseDuration(string(longest))
	if err := errors.Join(errA, errB); err != nil {
		return faults.Reword(err, func(f *faults.Finding) { f.Reason = "minBackoff, maxBackoff: " + f.Reason })
	}
	if a > b {
		return faults.At("minBackoff", fmt.Errorf("%s is longer than maxBackoff, %s", least, longest))
	}
	return nil
}
