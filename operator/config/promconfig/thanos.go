package promconfig

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/Masterminds/semver/v3"
	promcfg "github.com/prometheus/prometheus/config"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// ThanosAssetDir is the mount path of TLS assets in ThanosRuler containers.
const ThanosAssetDir = "/etc/thanos/certs"

// RemoteWriteFile is the file remote-write.yaml of a ThanosRuler.
type RemoteWriteFile struct {
	// YAML is the content of the file. An empty list is written as such.
	YAML []byte
	// Dropped lists keys that the version does not support.
	Dropped []gate.Dropped
	// Warnings are about settings with which the server starts but fails later.
	Warnings []faults.Finding
	// Deps are the Secrets and ConfigMaps that the file depends on, even on error.
	Deps []assets.Dependency
	// Files are TLS assets by file name, to be mounted at [ThanosAssetDir].
	Files map[string][]byte
}

// thanosRemoteWrite is the document.
type thanosRemoteWrite struct {
	// RemoteWrite has one entry per endpoint.
	RemoteWrite []*RemoteWrite `yaml:"remote_write"`
}

// CompileThanosRemoteWrite generates the remote write file of a ThanosRuler.
//
// version: of Thanos. References resolve in the ruler's namespace; the file contains
// credentials. Errors fail the reconciliation and start with the field,
// "spec.remoteWrite[2]: ...". In that case, the returned file has only Deps and Files.
func CompileThanosRemoteWrite(tr *v1.ThanosRuler, version *semver.Version, r assets.Reader) (f RemoteWriteFile, err error) {
	t := gate.Target{Program: gate.Thanos, Version: version}
	res := &resolver{clientconfig.New(tr.Namespace, r, ThanosAssetDir, t)}
	defer func() { f.Deps, f.Files = res.Dependencies(), res.Files() }()
	writes, pruned, err := res.thanosWrites(tr.Spec.RemoteWrite, t)
	if err != nil {
		return RemoteWriteFile{}, faults.At("spec", err)
	}
	f.YAML, f.Dropped, err = gate.Append(nil, thanosRemoteWrite{writes}, t, "")
	f.Dropped, f.Warnings = append(pruned, f.Dropped...), thanosWarnings(tr.Spec.RemoteWrite, t)
	return f, err
}

// thanosWrites validates and resolves the list. Unlike for Prometheus, fields that the
// version does not support are dropped before validation.
func (r *resolver) thanosWrites(specs []v1.RemoteWriteSpec, t gate.Target) (out []*RemoteWrite, dropped []gate.Dropped, err error) {
	if need := t.Needs("thanos=0.24.0"); need != "" && len(specs) > 0 {
		return nil, nil, faults.At("remoteWrite", fmt.Errorf("needs %s", need))
	}
	var errs faults.List
	errs.Add("", checkScalars("remoteWrite", specs))
	errs.Add("", checkDistinct("remoteWrite", specs, nil))
	rules := rulesFor(t, "").counting(new(regexcost.Budget))
	errs.Add("", faults.Each("remoteWrite", specs, func(s *v1.RemoteWriteSpec) error {
		write, pruned, err := r.thanosWrite(len(out), s, rules)
		out, dropped = append(out, write), append(dropped, pruned...)
		return err
	}))
	if errs.Any() {
		return nil, nil, errs.Err()
	}
	return out, dropped, checkEqual[promcfg.RemoteWriteConfig]("remoteWrite", out, t)
}

// thanosWrite validates and resolves entry i of the list.
func (r *resolver) thanosWrite(i int, s *v1.RemoteWriteSpec, rules relabelRules) (*RemoteWrite, []gate.Dropped, error) {
	var errs faults.List
	if a := s.AzureAD; a != nil {
		errs.Add("azureAd", clientconfig.CheckManagedIdentity(a.ManagedIdentity, rules.target))
	}
	s = s.DeepCopy()
	p := pruner{target: rules.target, at: fmt.Sprintf("remote_write[%d].", i)}
	p.prune(s)
	write, err := r.remoteWrite(s, rules)
	errs.Add("", faults.Reword(err, func(f *faults.Finding) { f.Reason += p.note() }))
	return write, p.dropped, faults.Union(errs.Err())
}

// pruner clears fields of one entry that the version does not support.
type pruner struct {
	target  gate.Target
	at      string // path of the entry with a trailing dot
	dropped []gate.Dropped
}

// prune clears fields that are validated or that affect other fields. The encoder drops the rest.
func (p *pruner) prune(s *v1.RemoteWriteSpec) {
	p.field("azuread", &s.AzureAD)
	if a := s.AzureAD; a != nil {
		p.field("azuread.sdk", &a.SDK)
		p.field("azuread.workload_identity", &a.WorkloadIdentity)
	}
	if v := s.Sigv4; v != nil {
		p.field("sigv4.external_id", &v.ExternalID)
	}
	if t := s.TLSConfig; t != nil {
		p.field("tls_config.min_version", &t.MinVersion)
		p.field("tls_config.max_version", &t.MaxVersion)
	}
	p.field("no_proxy", &s.NoProxy)
	p.field("proxy_from_environment", &s.ProxyFromEnvironment)
	p.field("proxy_connect_header", &s.ProxyConnectHeader)
	p.field("protobuf_message", &s.MessageVersion)
}

// field clears the value at pointer if the version does not support its key.
func (p *pruner) field(key string, pointer any) {
	v := reflect.ValueOf(pointer).Elem()
	if v.IsZero() {
		return
	}
	if need := gate.Need(reflect.TypeFor[RemoteWrite](), key, p.target); need != "" {
		v.SetZero()
		p.dropped = append(p.dropped, gate.Dropped{Path: p.at + key, Need: need})
	}
}

// note returns a note about the dropped fields to append to an error, or "" without dropped fields.
func (p *pruner) note() string {
	if len(p.dropped) == 0 {
		return ""
	}
	texts := make([]string, len(p.dropped))
	for i, d := range p.dropped {
		texts[i] = d.String()
	}
	return " (left out: " + strings.Join(texts, ", ") + ")"
}
