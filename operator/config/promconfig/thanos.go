package promconfig

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// ThanosAssetDir is where the containers of a ThanosRuler find TLS assets.
const ThanosAssetDir = "/etc/thanos/certs"

// RemoteWriteFile is remote-write.yaml of a ThanosRuler.
type RemoteWriteFile struct {
	// YAML is the file; an empty list is written out.
	YAML []byte
	// Dropped is what the version does not know.
	Dropped []gate.Dropped
	// Deps are the Secrets and ConfigMaps it depends on, also on error.
	Deps []assets.Dependency
	// Files are TLS assets by file name, for [ThanosAssetDir].
	Files map[string][]byte
}

// thanosRemoteWrite is the document.
type thanosRemoteWrite struct {
	// RemoteWrite has one entry for each endpoint.
	RemoteWrite []*RemoteWrite `yaml:"remote_write"`
}

// CompileThanosRemoteWrite makes the file of a ThanosRuler's remote write.
//
// version: of Thanos. References resolve in the ruler's namespace; credentials
// are part of the file. Errors fail the reconcile and name the field,
// "spec.remoteWrite[2]: …"; the returned file then carries Deps and Files only.
func CompileThanosRemoteWrite(tr *v1.ThanosRuler, version *semver.Version, r assets.Reader) (f RemoteWriteFile, err error) {
	t := gate.Target{Program: gate.Thanos, Version: version}
	res := &resolver{clientconfig.New(tr.Namespace, r, ThanosAssetDir, t)}
	defer func() { f.Deps, f.Files = res.Dependencies(), res.Files() }()
	writes, pruned, err := res.thanosWrites(tr.Spec.RemoteWrite, t)
	if err != nil {
		return RemoteWriteFile{}, fmt.Errorf("spec.%w", err)
	}
	f.YAML, f.Dropped, err = gate.Append(nil, thanosRemoteWrite{writes}, t, "")
	f.Dropped = append(pruned, f.Dropped...)
	return f, err
}

// thanosWrites checks and fills the list. Unlike with Prometheus, a field that the
// version does not know is gone before the checks.
func (r *resolver) thanosWrites(specs []v1.RemoteWriteSpec, t gate.Target) (out []*RemoteWrite, dropped []gate.Dropped, err error) {
	if need := t.Needs("thanos=0.24.0"); need != "" && len(specs) > 0 {
		return nil, nil, fmt.Errorf("remoteWrite: needs %s", need)
	}
	if err := checkScalars("remoteWrite", reflect.ValueOf(specs)); err != nil {
		return nil, nil, err
	}
	rules := rulesFor(t, "").counting(new(regexcost.Budget))
	for i := range specs {
		if a := specs[i].AzureAD; a != nil {
			if err := clientconfig.CheckManagedIdentity(a.ManagedIdentity, t); err != nil {
				return nil, nil, fmt.Errorf("remoteWrite[%d]: azureAd: %w", i, err)
			}
		}
		spec := specs[i].DeepCopy()
		p := pruner{target: t, at: fmt.Sprintf("remote_write[%d].", i)}
		p.prune(spec)
		write, err := r.remoteWrite(spec, rules)
		if err != nil {
			return nil, nil, fmt.Errorf("remoteWrite[%d]: %w%s", i, err, p.note())
		}
		out, dropped = append(out, write), append(dropped, p.dropped...)
	}
	return out, dropped, nil
}

// pruner empties fields of one entry that the version does not know.
type pruner struct {
	target  gate.Target
	at      string // path of the entry, with a dot
	dropped []gate.Dropped
}

// prune empties the fields that the checks and the other fields look at. The rest
// is left to the encoder.
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

// field empties what a pointer leads to when the tag of its key is not met.
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

// note tells the reader of an error what was no longer there, "" when nothing was
// left out.
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
