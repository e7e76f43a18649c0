package programs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// source describes how to build a program, and which versions of it on PATH are accepted.
type source struct {
	folder  string // relative to this package: has the go.mod
	module  string // module that determines the version; empty for a program of this project
	pkg     string // package to build
	ldflags string // {v} is the module's version without "v", {minor} its second number
	tags    string // build tags, comma-separated
	file    string // name of the built program; empty if it is the key of the row
	embeds  string // file that the program embeds and the module's zip lacks; built as an empty one

	versionArgs []string // arguments to print the version
	from, below version  // accepted on PATH: from <= version < below; without versionArgs none is
}

const kubeLdflags = "-X k8s.io/component-base/version.gitVersion=v{v}" +
	" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor={minor}"

const commonLdflags = "-X github.com/prometheus/common/version.Version="

// kube returns the source of a Kubernetes program. All of them must have the same minor version. A newer kubelet would
// reject Debian's containerd, and kubectl cannot parse a server version without the linker flags.
func kube(name string, versionArgs ...string) source {
	return source{
		folder: "kubernetes", module: "k8s.io/kubernetes", pkg: "k8s.io/kubernetes/cmd/" + name,
		ldflags: kubeLdflags, versionArgs: versionArgs,
		from: version{1, 34, 0}, below: version{1, 35, 0},
	}
}

// prom returns the source of a program of the Prometheus server's module. Module version 0.313.2 is release 3.13.2.
func prom(name string) source {
	return source{
		folder: "prometheus", module: "github.com/prometheus/prometheus",
		pkg:     "github.com/prometheus/prometheus/cmd/" + name,
		ldflags: commonLdflags + "3.13.2", versionArgs: []string{"--version"},
		from: version{3, 13, 0}, below: version{4, 0, 0},
	}
}

// oldProm returns the source of the server of an older release of Prometheus, see oldPromtool.
func oldProm(minor, release string) source {
	return source{
		folder: "prometheus-" + minor, module: "github.com/prometheus/prometheus",
		pkg: "github.com/prometheus/prometheus/cmd/prometheus", file: "prometheus",
		ldflags: commonLdflags + release,
	}
}

// oldPromtool returns the source of promtool of an older release of Prometheus. It is never taken from PATH, because
// the exact release is needed.
func oldPromtool(minor, release string) source {
	return source{
		folder: "prometheus-" + minor, module: "github.com/prometheus/prometheus",
		pkg: "github.com/prometheus/prometheus/cmd/promtool", file: "promtool",
		ldflags: commonLdflags + release,
	}
}

// oldAmtool returns the source of amtool of an older release of Alertmanager, see oldPromtool.
func oldAmtool(minor string) source {
	return source{
		folder: "alertmanager-" + minor, module: "github.com/prometheus/alertmanager",
		pkg: "github.com/prometheus/alertmanager/cmd/amtool", file: "amtool",
		ldflags: commonLdflags + "{v}",
	}
}

func alert(name string) source {
	return source{
		folder: "alertmanager", module: "github.com/prometheus/alertmanager",
		pkg:     "github.com/prometheus/alertmanager/cmd/" + name,
		ldflags: commonLdflags + "{v}", versionArgs: []string{"--version"}, embeds: "ui/app/dist/index.html",
		from: version{0, 33, 0}, below: version{1, 0, 0},
	}
}

// exporter returns the source of a program that is never taken from PATH, because the pinned release is needed.
func exporter(folder, module, command string) source {
	return source{folder: folder, module: module, pkg: module + command, ldflags: commonLdflags + "{v}"}
}

var table = map[string]source{
	"kube-apiserver":          kube("kube-apiserver", "--version"),
	"kube-controller-manager": kube("kube-controller-manager", "--version"),
	"kube-scheduler":          kube("kube-scheduler", "--version"),
	"kube-proxy":              kube("kube-proxy", "--version"),
	"kubelet":                 kube("kubelet", "--version"),
	"kubectl":                 kube("kubectl", "version", "--client"),
	// An etcd before 3.5.13 responds to a watch without resourceVersion with an error under a kube-apiserver of 1.34.
	"etcd": {
		folder: "etcd", module: "go.etcd.io/etcd/server/v3", pkg: ".", versionArgs: []string{"--version"},
		from: version{3, 5, 13}, below: version{4, 0, 0},
	},
	"coredns": {
		folder: "coredns", module: "github.com/coredns/coredns", pkg: "github.com/coredns/coredns",
		versionArgs: []string{"-version"}, from: version{1, 11, 0}, below: version{2, 0, 0},
	},
	"prometheus": prom("prometheus"),
	"promtool":   prom("promtool"),

	"prometheus-2.47": oldProm("2.47", "2.47.2"),
	"prometheus-2.53": oldProm("2.53", "2.53.3"),
	"prometheus-2.55": oldProm("2.55", "2.55.1"),
	"prometheus-3.5":  oldProm("3.5", "3.5.1"),

	"promtool-2.47": oldPromtool("2.47", "2.47.2"),
	"promtool-2.53": oldPromtool("2.53", "2.53.3"),
	"promtool-2.55": oldPromtool("2.55", "2.55.1"),
	"promtool-3.5":  oldPromtool("3.5", "3.5.1"),
	"alertmanager":  alert("alertmanager"),
	"amtool":        alert("amtool"),
	"amtool-0.21":   oldAmtool("0.21"),
	"amtool-0.24":   oldAmtool("0.24"),
	"amtool-0.27":   oldAmtool("0.27"),
	// Without the tag, Thanos compiles, but reads the labels of Prometheus packages in an obsolete representation: a
	// sidecar panics on the first request for its labels.
	"thanos": {
		folder: "thanos", module: "github.com/thanos-io/thanos", pkg: "github.com/thanos-io/thanos/cmd/thanos",
		ldflags: commonLdflags + "{v}", tags: "slicelabels", versionArgs: []string{"--version"},
		from: version{0, 42, 0}, below: version{1, 0, 0},
	},
	"helm": {
		folder: "helm", module: "helm.sh/helm/v3", pkg: "helm.sh/helm/v3/cmd/helm",
		ldflags: "-X helm.sh/helm/v3/internal/version.version=v{v}", versionArgs: []string{"version", "--short"},
		from: version{3, 14, 0}, below: version{4, 0, 0},
	},
	"pause":   {folder: "pause", pkg: "."},
	"webhook": {folder: "webhook", pkg: "."},
	// Programs that kube-prometheus deploys in addition to Prometheus and Alertmanager, in the versions of its
	// manifests.
	"node_exporter":      exporter("node-exporter", "github.com/prometheus/node_exporter", ""),
	"blackbox_exporter":  exporter("blackbox-exporter", "github.com/prometheus/blackbox_exporter", ""),
	"kube-state-metrics": exporter("kube-state-metrics", "k8s.io/kube-state-metrics/v2", ""),
	"kube-rbac-proxy":    exporter("kube-rbac-proxy", "github.com/brancz/kube-rbac-proxy", "/cmd/kube-rbac-proxy"),
}

// fileOf returns the file name of a built program.
func fileOf(name string) string { return cmp.Or(table[name].file, name) }

// Names returns the names of all programs, sorted.
func Names() []string { return slices.Sorted(maps.Keys(table)) }

// UnknownError means that a program is not in the table.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("program %q is not known; known are %s", e.Name, strings.Join(Names(), ", "))
}
