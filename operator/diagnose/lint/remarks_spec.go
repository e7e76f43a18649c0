package lint

import (
	"fmt"
	"regexp"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// specRemarks reports fields of a workload with a probably unintended effect.
func (l *linter) specRemarks(self Finding, w dryrun.Workload) {
	say := l.say(self)
	f := w.Object.GetWorkloadFields()
	dashRemarks(say, "spec.additionalArgs", f.AdditionalArgs)
	if common := v1alpha1.CommonFields(w.Object); common != nil {
		writeRemarks(say, common.RemoteWrite)
	}
	switch p := w.Object.(type) {
	case *v1.Prometheus:
		monthRemark(say, "spec.retention", string(p.Spec.Retention))
		if p.Spec.Thanos != nil {
			dashRemarks(say, "spec.thanos.additionalArgs", p.Spec.Thanos.AdditionalArgs)
		}
		if p.Spec.Alerting != nil {
			for i, am := range p.Spec.Alerting.Alertmanagers {
				relabelRemarks(say, fmt.Sprintf("spec.alerting.alertmanagers[%d].alertRelabelings", i), am.AlertRelabelConfigs, raisedAlerts)
			}
		}
	case *v1.ThanosRuler:
		monthRemark(say, "spec.retention", string(p.Spec.Retention))
		writeRemarks(say, p.Spec.RemoteWrite)
	}
}

// paused reports that changes have no effect while the workload is paused.
func (l *linter) paused(self Finding, w dryrun.Workload) {
	if w.Object.GetWorkloadFields().Paused {
		self.Severity, self.Code, self.Field = SeverityNote, CodeRemark, "spec.paused"
		self.Message = "while this is true, the operator changes nothing of this " + w.Kind.Kind + ": neither its own fields nor objects that it selects take effect"
		l.add(self, "")
	}
}

// dashRemarks reports arguments whose names have leading dashes or include the value.
func dashRemarks(say says, field string, args []v1.Argument) {
	for i, arg := range args {
		switch name, value, joined := strings.Cut(strings.TrimLeft(arg.Name, "-"), "="); {
		case joined:
			say(fmt.Sprintf("%s[%d].name", field, i), "the value is a field of its own: write name: %s and value: %q", name, value)
		case name != arg.Name:
			say(fmt.Sprintf("%s[%d].name", field, i), "the dashes are added to it, so the program gets --%s and does not start; write %s", arg.Name, name)
		}
	}
}

// months matches durations in which m was probably meant as months.
var months = regexp.MustCompile(`^(\d+y)?(\d+w)?(\d+d)?0*([1-9]\d*)m$`)

// monthRemark reports a retention in minutes that was probably meant in months.
func monthRemark(say says, field, value string) {
	part := months.FindStringSubmatch(value)
	if part == nil {
		return
	}
	short := part[1] == "" && part[2] == "" && part[3] == ""
	if short && len(part[4]) > 2 { // three digits are probably minutes
		return
	}
	say(field, "m are minutes, and there is no unit for months: for %s months write days, such as 30d for each", part[4])
}

// writeRemarks reports remarks about the relabeling steps of remote write.
func writeRemarks(say says, all []v1.RemoteWriteSpec) {
	for i, to := range all {
		relabelRemarks(say, fmt.Sprintf("spec.remoteWrite[%d].writeRelabelConfigs", i), to.WriteRelabelConfigs, sentSamples)
	}
}
