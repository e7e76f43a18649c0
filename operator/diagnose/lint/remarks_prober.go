package lint

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// defaultModule is the module that the blackbox exporter uses if a request names none.
const defaultModule = "http_2xx"

// moduleRemark reports a Probe whose module no configuration of a blackbox exporter in the namespace of the prober has.
func (l *linter) moduleRemark(say says, w dryrun.Workload, object catalog.Object) {
	p, is := object.(*v1.Probe)
	if !is {
		return
	}
	hostRemark(say, p)
	host, _, _ := strings.Cut(p.Spec.ProberSpec.URL, ":")
	parts, namespace := strings.Split(host, "."), w.Object.GetNamespace()
	switch {
	case len(parts) == 2, len(parts) > 2 && parts[2] == "svc":
		namespace = parts[1]
	case len(parts) > 1 || l.standsIn(w.String()):
		return // another host, or an unknown namespace
	}
	module, all := cmp.Or(p.Spec.Module, defaultModule), l.blackboxesIn(namespace)
	if len(all) == 0 || slices.ContainsFunc(all, func(b blackbox) bool { return slices.Contains(b.modules, module) }) {
		return
	}
	b, not := all[0], ""
	if p.Spec.Module == "" {
		not = "is not set, which means " + defaultModule + "; "
	}
	say("spec.module", "%skey %q of %s, the configuration of the blackbox exporter, has no module %q, and each probe answers 400 (unknown module)%s", not, b.key, b.ref, module, manifest.Beside(module, b.modules))
}

// ofHosts matches the names of modules that connect to a host, and read no URL; withoutPorts those that need no port.
var (
	ofHosts      = lazyregexp.New(`^(icmp|ping|tcp|ssh)([_-].*)?$`)
	withoutPorts = lazyregexp.New(`^(icmp|ping)`)
	defaultPorts = map[string]string{"http": "80", "https": "443", "ssh": "22"}
)

// hostRemark reports URLs as targets of a module for hosts.
func hostRemark(say says, p *v1.Probe) {
	if p.Spec.Targets.StaticConfig == nil || !ofHosts.MatchString(p.Spec.Module) {
		return
	}
	for i, target := range p.Spec.Targets.StaticConfig.Static {
		u, err := url.Parse(target)
		if err != nil || u.Host == "" || u.Scheme == "" {
			continue
		}
		want := u.Hostname()
		if port := cmp.Or(u.Port(), defaultPorts[u.Scheme]); port != "" && !withoutPorts.MatchString(p.Spec.Module) {
			want += ":" + port
		}
		say(fmt.Sprintf("spec.targets.staticConfig.static[%d]", i), "%s://%s is a URL, and module %s connects to a host, by its name, so each probe fails: write %s", u.Scheme, u.Host, p.Spec.Module, want)
	}
}

// proberSteps reports steps of a Probe that do again what the operator's steps have done before: then __address__ is the
// prober at url. Steps that choose a prober for each target are not reported.
func proberSteps(say, note says, path, url string, steps []v1.RelabelConfig) {
	for i, s := range steps {
		field := fmt.Sprintf("%s[%d]", path, i)
		action := strings.ToLower(s.Action)
		plain := s.Replacement == nil || strings.Contains(*s.Replacement, "$")
		fromAddress := plain && slices.Equal(s.SourceLabels, []v1.LabelName{model.AddressLabel})
		switch {
		case action != "" && action != "replace": // which loses no target
			continue
		case passesAddress(s):
			say(field, "the operator's steps run before this one and have set __address__ to the prober, so each probe asks the prober about itself: remove the step, because the operator also sets __param_target, instance and __address__")
			return
		case s.TargetLabel == model.InstanceLabel && fromAddress:
			say(field, "the operator's steps run before this one and have set __address__ to the prober, so every target gets the same instance: remove the step, because the operator sets instance from __param_target")
		case s.TargetLabel != model.AddressLabel && !strings.Contains(s.TargetLabel, "$"):
			continue
		case s.TargetLabel == model.AddressLabel && len(s.SourceLabels) == 0 && s.Replacement != nil && *s.Replacement == url:
			note(field, "has no effect, because the operator has set __address__ to the prober before: remove the step")
			continue
		case s.TargetLabel == model.AddressLabel && len(s.SourceLabels) == 0:
			note(field, "replaces the prober of spec.prober.url for every target: write the address there, and remove the step")
		}
		return // __address__ is another one in later steps
	}
}

// blackbox is a configuration of a blackbox exporter.
type blackbox struct {
	ref     assets.Ref
	key     string
	modules []string // names, sorted
}

// blackboxesIn returns the configurations of blackbox exporters in a namespace. It parses them once.
func (l *linter) blackboxesIn(namespace string) []blackbox {
	all, known := l.blackboxes[namespace]
	if known {
		return all
	}
	for _, name := range l.objects.References.Names(assets.ConfigMap, namespace) {
		ref := assets.Ref{Kind: assets.ConfigMap, Namespace: namespace, Name: name}
		object, err := l.objects.References.Object(ref)
		if err != nil {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(object.Values)) {
			if modules := blackboxModules(object.Values[key]); len(modules) > 0 {
				all = append(all, blackbox{ref, key, modules})
			}
		}
	}
	if l.blackboxes == nil {
		l.blackboxes = map[string][]blackbox{}
	}
	l.blackboxes[namespace] = all
	return all
}

// maxBlackbox is the maximum length in bytes of a text that is parsed for modules.
const maxBlackbox = 256 << 10

// blackboxModules returns the names of the modules in a configuration of a blackbox exporter, sorted; nil for another
// text.
func blackboxModules(text []byte) []string {
	if len(text) > maxBlackbox || !strings.Contains(string(text), "modules") {
		return nil
	}
	var config struct {
		Modules map[string]struct {
			Prober string `json:"prober"`
		} `json:"modules"`
	}
	if yaml.Unmarshal(text, &config) != nil {
		return nil
	}
	for _, m := range config.Modules {
		if !slices.Contains([]string{"http", "tcp", "icmp", "dns", "grpc", "unix"}, m.Prober) {
			return nil
		}
	}
	return slices.Sorted(maps.Keys(config.Modules))
}
