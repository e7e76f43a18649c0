package promconfig

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/alecthomas/units"
	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/fields"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// checkOwner rejects fields that Prometheus would reject, if they can be checked on their
// own. The patterns of the CRD cannot limit the range of numbers.
func checkOwner(f *v1.CommonPrometheusFields, t gate.Target) error {
	var errs faults.List
	errs.Add("", checkCounts(f))
	if f.NameValidationScheme == v1.LegacyNameValidationScheme && f.NameEscapingScheme == v1.AllowUTF8NameEscapingScheme && t.AtLeast("3.4.0") {
		errs.Add("nameEscapingScheme", fmt.Errorf("%s conflicts with nameValidationScheme %s", f.NameEscapingScheme, f.NameValidationScheme))
	}
	errs.Add("", checkScalars("", f))
	return errs.Err()
}

// checkCounts rejects more shards or replicas than the operator supports.
func checkCounts(f *v1.CommonPrometheusFields) error {
	return errors.Join(faults.At("shards", v1.CheckShards(f.Shards)), faults.At("replicas", v1.CheckReplicas(f.Replicas)))
}

// checkScalars checks all durations and sizes in a value of our API at a path.
func checkScalars(root string, value any) error {
	var errs faults.List
	for path, v := range fields.Strings(root, value) {
		what, check := "duration", checkedDuration
		switch v.Interface().(type) {
		case v1.Duration, v1.NonEmptyDuration:
		case v1.ByteSize:
			what, check = "size", checkedSize
		default:
			continue
		}
		if check(v.String()) == nil {
			continue
		}
		if errs.Add(path, fmt.Errorf("%q is not a %s that Prometheus accepts", v.String(), what)); errs.Full() {
			break
		}
	}
	return errs.Err()
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
