package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// hostPackage is a Debian package with a check whether its content is installed by any means.
type hostPackage struct {
	name    string
	present func() bool
}

func command(names ...string) func() bool {
	return func() bool {
		for _, name := range names {
			if _, err := findCommand(name); err != nil {
				return false
			}
		}
		return true
	}
}

// imagePackages are needed to build an image, nodePackages to run a node (which also builds an image).
var (
	imagePackages = []hostPackage{
		{"buildah", command("buildah")},
	}
	nodePackages = append([]hostPackage{
		{"containerd", command("containerd", "ctr", "containerd-shim-runc-v2")},
		{"runc", command("runc")},
		{"containernetworking-plugins", func() bool { _, err := cniFolder(); return err == nil }},
		{"iptables", command("iptables", "iptables-save", "iptables-restore")},
		{"iproute2", command("ip")},
	}, imagePackages...)
)

// MissingError lists packages that are missing and cannot be installed automatically.
type MissingError struct {
	Packages []string
	Reason   string // why they are not installed
}

func (e *MissingError) Error() string {
	names := strings.Join(e.Packages, " ")
	return fmt.Sprintf("missing on this machine: %s (%s); on Debian: apt-get install --no-install-recommends %s", names, e.Reason, names)
}

func missingPackages(wanted []hostPackage) []string {
	var out []string
	for _, p := range wanted {
		if !p.present() {
			out = append(out, p.name)
		}
	}
	return out
}

// ensurePackages installs missing packages, as root on Debian and its derivatives.
//
// Errors: [MissingError] if that is not allowed or not possible; otherwise the end of the output of
// apt-get.
func ensurePackages(ctx context.Context, log io.Writer, wanted []hostPackage) error {
	missing := missingPackages(wanted)
	if len(missing) == 0 {
		return nil
	}
	if os.Geteuid() != 0 {
		return &MissingError{Packages: missing, Reason: "not root"}
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return &MissingError{Packages: missing, Reason: "no apt-get"}
	}
	began := time.Now()
	fmt.Fprintf(log, "cluster: installing %s\n", strings.Join(missing, ", "))
	for _, args := range [][]string{
		{"update", "-qq"},
		append([]string{"install", "-qq", "-y", "--no-install-recommends"}, missing...),
	} {
		if err := aptGet(ctx, args...); err != nil {
			return err
		}
	}
	if still := missingPackages(wanted); len(still) > 0 {
		return &MissingError{Packages: still, Reason: "still not there after the installation"}
	}
	fmt.Fprintf(log, "cluster: installed %s in %s\n", strings.Join(missing, ", "), since(began))
	return nil
}

func aptGet(ctx context.Context, args ...string) error {
	args = append([]string{"-o", "DPkg::Lock::Timeout=120"}, args...)
	cmd := exec.CommandContext(ctx, "apt-get", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("apt-get %s: %w: %s", strings.Join(args, " "), err, out[max(0, len(out)-2000):])
	}
	return nil
}

// caBundle returns the path of the machine's bundle of CA certificates.
func caBundle() (string, error) {
	places := []string{
		"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
	}
	i := slices.IndexFunc(places, func(file string) bool { _, err := os.Stat(file); return err == nil })
	if i < 0 {
		return "", fmt.Errorf("no CA certificates in %s (package ca-certificates)", filepath.Dir(places[0]))
	}
	return places[i], nil
}
