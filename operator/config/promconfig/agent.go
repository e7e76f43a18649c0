package promconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// AgentSettings returns the settings of a PrometheusAgent for its monitors. Errors are
// those of [ServerSettings], and a DaemonSet without its feature gate.
func AgentSettings(a *v1alpha1.PrometheusAgent, c Capabilities) (*Settings, error) {
	daemonSet := a.Spec.Mode == v1alpha1.DaemonSetPrometheusAgentMode
	if daemonSet && !c.AgentDaemonSet {
		return nil, faults.At("spec.mode", errors.New("DaemonSet needs the feature gate PrometheusAgentDaemonSet"))
	}
	of := settingsSource{&a.Spec.CommonPrometheusFields, &a.ObjectMeta, gate.Agent, daemonSet}
	return newSettings(of, c, checkSettings)
}

// CompileAgent compiles the frame of a PrometheusAgent, which has no rules, no alerting,
// no remote read, and is never unmanaged.
//
// Errors fail the reconciliation. In that case, only Deps and Head of the returned frame are usable.
func CompileAgent(a *v1alpha1.PrometheusAgent, s *Settings, r assets.Reader) (Frame, error) {
	res := newResolver(a.Namespace, r, s.target)
	f, err := compileAgent(a, s, res)
	f.Deps, f.Files = res.Dependencies(), res.Files()
	return f, err
}

func compileAgent(a *v1alpha1.PrometheusAgent, s *Settings, res *resolver) (Frame, error) {
	f := Frame{agent: true, daemonSet: s.data.DaemonSet}
	tail, additional, err := agentTail(a, s, res)
	head := Head{Runtime: runtimeFrom(a.Spec.Runtime)}
	head.Global, f.Warnings = globalFrom(&a.Spec.CommonPrometheusFields, a.Namespace, a.Name, s.capabilities)
	if err != nil {
		f.alone(head, s.target)
		return f, err
	}
	f.Warnings = append(f.Warnings, res.missingCredentials(a.Spec.ScrapeClasses)...)
	f.Origins = additional.origins
	err = f.encode(head, tail, additional.jobs, s.target)
	return f, err
}

// agentTail validates and resolves all fields of the workload in a fixed order.
func agentTail(a *v1alpha1.PrometheusAgent, s *Settings, res *resolver) (tail Tail, additional ownJobs, err error) {
	spec, errs := &a.Spec.CommonPrometheusFields, faults.List{}
	set(&errs, "spec", &tail.RemoteWrite)(res.remoteWrites(spec.RemoteWrite, s.rules.counting(new(regexcost.Budget))))
	_, err = res.apiServer(spec.APIServerConfig)
	errs.Add("spec.apiserverConfig", err)
	errs.Add("spec", res.scrapeClasses(spec.ScrapeClasses))
	set(&errs, "spec", &additional)(res.additionalJobs(spec, s))
	set(&errs, "spec", &tail.Storage)(agentStorage(spec))
	errs.Add("spec", res.telemetry(spec, s, &tail))
	return tail, additional, errs.Err()
}
