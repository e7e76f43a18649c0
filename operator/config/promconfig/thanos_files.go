package promconfig

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/prometheus/common/model"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// thanosAlertmanager is an entry of the file for --alertmanagers.config-file, which Thanos parses strictly.
type thanosAlertmanager struct {
	HTTPClient thanosClient       `yaml:"http_config"`
	Static     []string           `yaml:"static_configs"`
	FileSD     []thanosFileSD     `yaml:"file_sd_configs"`
	Scheme     string             `yaml:"scheme"`
	PathPrefix string             `yaml:"path_prefix"`
	Timeout    model.Duration     `yaml:"timeout"`
	APIVersion thanosAMAPIVersion `yaml:"api_version"`
}

// thanosQuery is an entry of the file for --query.config, which Thanos parses strictly.
type thanosQuery struct {
	HTTPClient thanosClient   `yaml:"http_config"`
	Static     []string       `yaml:"static_configs"`
	FileSD     []thanosFileSD `yaml:"file_sd_configs"`
	Scheme     string         `yaml:"scheme"`
	PathPrefix string         `yaml:"path_prefix"`
	GRPC       *struct {
		Addresses []string `yaml:"endpoint_addresses"`
	} `yaml:"grpc_config"`
}

type thanosFileSD struct {
	Files           []string       `yaml:"files"`
	RefreshInterval model.Duration `yaml:"refresh_interval"`
}

type thanosClient struct {
	BasicAuth struct {
		Username     string `yaml:"username"`
		Password     string `yaml:"password"`
		PasswordFile string `yaml:"password_file"`
	} `yaml:"basic_auth"`
	BearerToken     string `yaml:"bearer_token"`
	BearerTokenFile string `yaml:"bearer_token_file"`
	ProxyURL        string `yaml:"proxy_url"`
	TLSConfig       struct {
		CAFile             string `yaml:"ca_file"`
		CertFile           string `yaml:"cert_file"`
		KeyFile            string `yaml:"key_file"`
		ServerName         string `yaml:"server_name"`
		InsecureSkipVerify bool   `yaml:"insecure_skip_verify"`
	} `yaml:"tls_config"`
	TransportConfig struct {
		MaxIdleConns          int   `yaml:"max_idle_conns"`
		MaxIdleConnsPerHost   int   `yaml:"max_idle_conns_per_host"`
		IdleConnTimeout       int64 `yaml:"idle_conn_timeout"`
		ResponseHeaderTimeout int64 `yaml:"response_header_timeout"`
		ExpectContinueTimeout int64 `yaml:"expect_continue_timeout"`
		MaxConnsPerHost       int   `yaml:"max_conns_per_host"`
		DisableCompression    bool  `yaml:"disable_compression"`
		TLSHandshakeTimeout   int64 `yaml:"tls_handshake_timeout"`
		DialerTimeout         int64 `yaml:"dialer_timeout"`
	} `yaml:"transport_config"`
}

// firstUnreadThanos is the first minor version that may support more keys.
const firstUnreadThanos = "thanos=0.43.0"

// thanosAMAPIVersion is an Alertmanager API version that Thanos supports.
type thanosAMAPIVersion string

// UnmarshalYAML implements yaml.Unmarshaler.
func (v *thanosAMAPIVersion) UnmarshalYAML(unmarshal func(any) error) error {
	var text string
	if err := unmarshal(&text); err != nil {
		return err
	}
	if text != "v1" && text != "v2" {
		return fmt.Errorf("api_version must be v1 or v2")
	}
	*v = thanosAMAPIVersion(text)
	return nil
}

var (
	thanosAlertmanagerItems = itemKind{own: yamlKeys(reflect.TypeFor[thanosAlertmanager](), nil), read: func(list []byte) error {
		_, err := strictly[thanosAlertmanager](list)
		return err
	}}
	thanosQueryItems = itemKind{own: yamlKeys(reflect.TypeFor[thanosQuery](), nil), read: func(list []byte) error {
		_, err := strictly[thanosQuery](list)
		return err
	}}
)

// CheckThanosFiles reports errors that prevent ThanosRuler from starting in the user's files
// queryConfig, alertmanagersConfig and alertRelabelConfigs. A missing Secret or key is not an error, because pods
// wait for it. Files for versions that are newer than the known ones are not checked.
//
// version: of Thanos.
//
// Errors, joined, contain the field, the Secret, the key and the line: "spec.alertRelabelConfigs: ...".
func CheckThanosFiles(tr *v1.ThanosRuler, version *semver.Version, r assets.Reader) (deps []assets.Dependency, err error) {
	if (gate.Target{Program: gate.Thanos, Version: version}).AtLeast(firstUnreadThanos) {
		return nil, nil
	}
	reader := assets.NewScope(tr.Namespace, r)
	var errs faults.List
	for _, file := range []struct {
		field string
		sel   *corev1.SecretKeySelector
		path  string // takes precedence over the Secret
		key   string // key of the list; empty if the document is the list
		items itemKind
	}{
		{"spec.queryConfig", tr.Spec.QueryConfig, "", "", thanosQueryItems},
		{"spec.alertmanagersConfig", tr.Spec.AlertmanagersConfig, "", "alertmanagers", thanosAlertmanagerItems},
		{"spec.alertRelabelConfigs", tr.Spec.AlertRelabelConfigs, tr.Spec.AlertRelabelConfigFile, "", relabelItems},
	} {
		if file.sel == nil || file.path != "" {
			continue
		}
		text, err := reader.SecretKey(*file.sel)
		switch {
		case assets.IsTemporary(err):
			return reader.Dependencies(), err
		case err == nil:
			from := assets.ContentError{Ref: assets.Ref{Kind: assets.Secret, Namespace: tr.Namespace, Name: file.sel.Name}, Key: file.sel.Key}
			errs.Add("", checkThanosFile(text, file.field, file.key, file.items, from))
		}
	}
	return reader.Dependencies(), errs.Err()
}

// checkThanosFile reports the errors in a file.
func checkThanosFile(text, field, key string, items itemKind, from assets.ContentError) error {
	var errs faults.List
	say := func(line int, format string, args ...any) {
		at := from
		at.Line, at.Err = line, fmt.Errorf(format, args...)
		errs.Add(field, &at)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		say(manifest.SyntaxLine([]byte(text), err), "is not valid YAML: %s", strings.TrimPrefix(withoutValues(err).Error(), "yaml: "))
		return errs.Err()
	}
	if len(doc.Content) == 0 {
		return nil // an empty file
	}
	list := doc.Content[0]
	if list.Kind == yaml.ScalarNode && assets.EncodedTwice(list.Value) {
		say(list.Line, "is base64: %s", assets.TwiceEncoded)
		return errs.Err()
	}
	if key != "" {
		if list.Kind != yaml.MappingNode {
			instead := ""
			if list.Kind == yaml.SequenceNode {
				instead = fmt.Sprintf("; write %s: before the list", key)
			}
			say(list.Line, "is no map with the key %s%s", key, instead)
			return errs.Err()
		}
		for i := 0; i+1 < len(list.Content); i += 2 {
			if name := list.Content[i]; name.Value != key {
				say(name.Line, "unknown field %s", name.Value)
			}
		}
		if list = manifest.ValueOf(list, key); list == nil || list.Tag == "!!null" {
			return errs.Err()
		}
	}
	if list.Kind != yaml.SequenceNode {
		say(list.Line, "is no list")
		return errs.Err()
	}
	for _, item := range list.Content {
		switch {
		case opaque(item): // aliases and merges are not resolved here
		case item.Kind == yaml.MappingNode:
			items.check(item, say)
		default:
			say(item.Line, "is no map")
		}
	}
	return errs.Err()
}
