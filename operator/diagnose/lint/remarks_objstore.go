package lint

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// objstoreTypes are the kinds of object storage that Thanos supports.
var objstoreTypes = []string{"S3", "GCS", "AZURE", "SWIFT", "COS", "ALIYUNOSS", "BOS", "OCI", "OBS", "FILESYSTEM"}

// objstoreRemarks reports a configuration of object storage with which Thanos does not start. The
// operator passes it on unread. Messages never contain its values.
func (l *linter) objstoreRemarks(self Finding, w dryrun.Workload) {
	var sel *corev1.SecretKeySelector
	field := "spec.objectStorageConfig"
	switch o := w.Object.(type) {
	case *v1.Prometheus:
		if o.Spec.Thanos != nil {
			sel, field = o.Spec.Thanos.ObjectStorageConfig, "spec.thanos.objectStorageConfig"
		}
	case *v1.ThanosRuler:
		sel = o.Spec.ObjectStorageConfig
	}
	if sel == nil {
		return
	}
	ref := assets.Ref{Kind: assets.Secret, Namespace: w.Object.GetNamespace(), Name: sel.Name}
	known, err := l.objects.References.Object(ref)
	text, has := known.Values[sel.Key]
	if err != nil || !has {
		return // reported elsewhere
	}
	line, reason := objstoreFault(text)
	if reason == "" {
		return
	}
	self.Severity, self.Code, self.Field = SeverityWarning, CodeRemark, field
	self.Message = fmt.Sprintf("Thanos does not start with the value of key %q in %s: %s", sel.Key, ref, reason)
	l.add(l.inContent(self, &assets.ContentError{Ref: ref, Key: sel.Key, Line: line}), "")
}

// objstoreFault returns the first fault of a configuration of object storage with its line, from 1; an
// empty reason if none is found.
func objstoreFault(text []byte) (line int, reason string) {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return 0, ""
	}
	root := doc.Content[0]
	switch {
	case root.Kind == yaml.ScalarNode && assets.EncodedTwice(root.Value):
		return root.Line, assets.TwiceEncoded
	case root.Kind != yaml.MappingNode:
		return 0, "" // possibly a placeholder
	}
	kind, config := manifest.ValueOf(root, "type"), manifest.ValueOf(root, "config")
	for i := 0; i+1 < len(root.Content); i += 2 {
		if key := root.Content[i]; !slices.Contains([]string{"type", "config", "prefix"}, key.Value) {
			if plainKey.MatchString(key.Value) {
				return key.Line, key.Value + " is no key here: it belongs below config, beside which only type and prefix stand"
			}
			return key.Line, "a key is none of type, config and prefix"
		}
	}
	switch {
	case kind == nil:
		return root.Line, "type is missing, such as type: S3"
	case !slices.Contains(objstoreTypes, strings.ToUpper(kind.Value)):
		return kind.Line, "type is none of " + strings.Join(objstoreTypes, ", ")
	case config == nil || config.Kind != yaml.MappingNode:
		return kind.Line, "config is missing, which has the bucket and the rest"
	}
	if line, reason := unknownSetting(config, strings.ToUpper(kind.Value)); reason != "" {
		return line, reason
	}
	if bucket := manifest.ValueOf(config, "bucket"); strings.EqualFold(kind.Value, "GCS") && (bucket == nil || bucket.Value == "") {
		return config.Line, "config.bucket is missing"
	}
	if !strings.EqualFold(kind.Value, "S3") {
		return 0, ""
	}
	if line, reason := halfOfKey(config); reason != "" {
		return line, reason
	}
	switch endpoint := manifest.ValueOf(config, "endpoint"); {
	case endpoint == nil || endpoint.Value == "":
		return config.Line, "config.endpoint is missing, a host such as s3.eu-west-1.amazonaws.com"
	case strings.Contains(endpoint.Value, "/"):
		return endpoint.Line, "config.endpoint is a host, or host:port, without https:// and without a path; for plain HTTP write insecure: true"
	}
	return 0, ""
}

// halfOfKey returns the fault of a key for S3 of which one half is missing, or that is beside credentials of the environment.
func halfOfKey(config *yaml.Node) (line int, reason string) {
	set := func(name string) bool {
		value := manifest.ValueOf(config, name)
		return value != nil && value.Value != ""
	}
	switch access, secret := set("access_key"), set("secret_key"); {
	case access && !secret:
		return config.Line, "config.access_key needs config.secret_key"
	case secret && !access:
		return config.Line, "config.secret_key needs config.access_key"
	case access && set("aws_sdk_auth") && manifest.ValueOf(config, "aws_sdk_auth").Value == "true":
		return config.Line, "config.aws_sdk_auth and config.access_key exclude each other"
	}
	return 0, ""
}

// objstoreSettings are the settings of the kinds whose configuration Thanos reads strictly, including
// those of older versions.
var objstoreSettings = map[string][]string{
	"S3": {"bucket", "endpoint", "region", "disable_dualstack", "aws_sdk_auth", "access_key", "insecure", "signature_version2", "secret_key", "session_token",
		"put_user_metadata", "http_config", "trace", "list_objects_version", "bucket_lookup_type", "send_content_md5", "disable_multipart", "part_size",
		"sse_config", "sts_endpoint", "max_retries", "encrypt_sse"},
	"GCS": {"bucket", "service_account", "use_grpc", "grpc_conn_pool_size", "http_config", "chunk_size_bytes", "max_retries"},
	"AZURE": {"az_tenant_id", "client_id", "client_secret", "storage_account", "storage_account_key", "storage_connection_string", "storage_create_container",
		"container", "endpoint", "user_assigned_id", "max_retries", "reader_config", "pipeline_config", "http_config", "msi_resource"},
	"SWIFT": {"auth_version", "auth_url", "username", "user_domain_name", "user_domain_id", "user_id", "password", "domain_id", "domain_name",
		"application_credential_id", "application_credential_name", "application_credential_secret", "project_id", "project_name", "project_domain_id",
		"project_domain_name", "region_name", "container_name", "large_object_chunk_size", "large_object_segments_container_name", "retries",
		"connect_timeout", "timeout", "use_dynamic_large_objects", "http_config", "tenant_id", "tenant_name"},
	"OBS": {"bucket", "endpoint", "access_key", "secret_key", "max_retries", "http_config"},
}

// unknownSetting returns the first setting that Thanos does not know. Newer versions may know more, so only
// settings with another case or dashes, with the words of another program, or almost spelled like one
// that exists are reported.
func unknownSetting(config *yaml.Node, kind string) (line int, reason string) {
	known := objstoreSettings[kind]
	for i := 0; len(known) > 0 && i+1 < len(config.Content); i += 2 {
		key := config.Content[i]
		if key.Tag != "!!str" || slices.Contains(known, key.Value) {
			continue
		}
		meant := manifest.Similar(key.Value, known)
		if meant == "" && slices.Contains(known, sameSettings[squeezed(key.Value)]) {
			meant = sameSettings[squeezed(key.Value)]
		}
		for _, name := range known {
			if squeezed(name) == squeezed(key.Value) {
				meant = name
			}
		}
		if meant == "" {
			continue
		}
		if !settingName.MatchString(key.Value) {
			return key.Line, "config has an unknown setting, did you mean " + meant + "?"
		}
		return key.Line, fmt.Sprintf("config.%s is no setting of %s, did you mean %s?", key.Value, kind, meant)
	}
	return 0, ""
}

// sameSettings are settings as other programs call them.
var sameSettings = map[string]string{
	"accesskeyid": "access_key", "awsaccesskeyid": "access_key", "secretaccesskey": "secret_key", "awssecretaccesskey": "secret_key",
	"bucketname": "bucket", "s3forcepathstyle": "bucket_lookup_type", "serviceaccountkey": "service_account", "accountname": "storage_account",
	"accountkey": "storage_account_key", "storageaccountname": "storage_account", "containername": "container", "tenantid": "az_tenant_id",
}

// squeezed returns a name in small letters without dashes and underscores.
func squeezed(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

// settingName matches names of settings in any spelling, as opposed to values at the wrong place.
var settingName = lazyregexp.New(`^[a-zA-Z][a-zA-Z_0-9-]{1,40}$`)

// plainKey matches names of settings, as opposed to values at the wrong place.
var plainKey = lazyregexp.New(`^[a-z][a-z_]{1,30}$`)
