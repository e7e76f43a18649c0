// Package version describes the build of a binary. The variables are set at link time:
//
//	go build -ldflags "-X github.com/firekeeper-dev/firekeeper/internal/version.Version=1.2.3"
//
// Otherwise Version has its default for development builds and Revision comes from the version
// control data that the Go tool stores, if any.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Set by the linker with -X. Empty values are omitted from the output of Info and Context.
var (
	Version   = "0.0.0-dev" // semantic version without leading v
	Revision  = ""          // commit
	Branch    = ""
	BuildUser = ""
	BuildDate = ""
)

// tags returns the build tags of the binary, comma separated, or "unknown".
func tags() string {
	if t := buildSetting("-tags"); t != "" {
		return t
	}
	return "unknown"
}

func revision() string {
	if Revision != "" {
		return Revision
	}
	rev := buildSetting("vcs.revision")
	if rev == "" {
		return "unknown"
	}
	if buildSetting("vcs.modified") == "true" {
		rev += "-modified"
	}
	return rev
}

func buildSetting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// Print returns the output of --version, without a final newline.
func Print(program string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, version %s (branch: %s, revision: %s)", program, Version, Branch, revision())
	for _, row := range [][2]string{
		{"project", "Firekeeper"},
		{"build user", BuildUser},
		{"build date", BuildDate},
		{"go version", runtime.Version()},
		{"platform", runtime.GOOS + "/" + runtime.GOARCH},
		{"tags", tags()},
	} {
		fmt.Fprintf(&b, "\n  %-16s %s", row[0]+":", row[1])
	}
	return b.String()
}

// Info returns version, branch and revision on one line, for the log.
func Info() string {
	return fmt.Sprintf("(version=%s, branch=%s, revision=%s)", Version, Branch, revision())
}

// Context returns the build details on one line, for the log.
func Context() string {
	return fmt.Sprintf("(go=%s, platform=%s/%s, user=%s, date=%s, tags=%s)",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, BuildUser, BuildDate, tags())
}

// NewCollector returns the gauge <namespace>_build_info with the constant value 1
// and the labels branch, goarch, goos, goversion, revision, tags and version.
func NewCollector(namespace string) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace,
		Name:      "build_info",
		Help:      "Constant 1; the labels say what " + namespace + " was built from.",
		ConstLabels: prometheus.Labels{
			"branch":    Branch,
			"goarch":    runtime.GOARCH,
			"goos":      runtime.GOOS,
			"goversion": runtime.Version(),
			"revision":  revision(),
			"tags":      tags(),
			"version":   Version,
		},
	}, func() float64 { return 1 })
}
