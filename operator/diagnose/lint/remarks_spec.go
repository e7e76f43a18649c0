package lint

import (
	"fmt"
	"regexp"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// specRemarks are about fields of a workload that do something else than their author thinks.
func (l *linter) specRemarks(self Finding, w manifests.Workload) {
	say := func(field, format string, args ...any) { l.remark(self, field+": "+fmt.Sprintf(format, args...), "") }
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

// paused says that nothing takes effect.
func (l *linter) paused(self Finding, w manifests.Workload) {
	if w.Object.GetWorkloadFields().Paused {
		self.Severity, self.Code, self.Field = SeverityNote, CodeRemark, "spec.paused"
		self.Message = "while this is true, the operator changes nothing of this " + w.Kind.Kind + ": neither its own fields nor objects that it selects take effect"
		l.add(self, "")
	}
}

// dashRemarks are about arguments whose names are written as on a command line.
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

// months matches durations in which m was hardly meant as minutes.
var months = regexp.MustCompile(`^(\d+y)?(\d+w)?(\d+d)?0*([1-9]\d*)m$`)

// monthRemark is about a retention in minutes.
func monthRemark(say says, field, value string) {
	part := months.FindStringSubmatch(value)
	if part == nil {
		return
	}
	short := part[1] == "" && part[2] == "" && part[3] == ""
	if short && len(part[4]) > 2 { // hundreds of minutes are meant
		return
	}
	say(field, "m are minutes, and there is no unit for months: for %s months write days, such as 30d for each", part[4])
}

// writeRemarks are about steps that drop or keep everything that is sent.
func writeRemarks(say says, all []v1.RemoteWriteSpec) {
	for i, to := range all {
		relabelRemarks(say, fmt.Sprintf("spec.remoteWrite[%d].writeRelabelConfigs", i), to.WriteRelabelConfigs, sentSamples)
	}
}
