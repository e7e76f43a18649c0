package cluster

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestChainRemoval(t *testing.T) {
	saved := `# Generated
*nat
:PREROUTING ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
:DOCKER - [0:0]
:KUBE-SERVICES - [0:0]
:CNI-HOSTPORT-DNAT - [0:0]
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A PREROUTING -j DOCKER
-A OUTPUT -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-A DOCKER -m comment --comment "not for KUBE-SERVICES" -j RETURN
-A KUBE-SERVICES -j MARK --set-xmark 0x4000/0x4000
COMMIT
*filter
:INPUT ACCEPT [0:0]
-A INPUT -i lo -j ACCEPT
COMMIT
`
	want := `*nat
-D PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-D OUTPUT -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-F KUBE-SERVICES
-F CNI-HOSTPORT-DNAT
-X KUBE-SERVICES
-X CNI-HOSTPORT-DNAT
COMMIT
`
	if got := chainRemoval(saved); got != want {
		t.Errorf("chainRemoval:\n%s\nwant:\n%s", got, want)
	}
	if got := chainRemoval(strings.ReplaceAll(strings.ReplaceAll(saved, "KUBE-", "X-"), "CNI-", "Y-")); got != "" {
		t.Errorf("touches chains of others:\n%s", got)
	}
}

func TestMountsBelow(t *testing.T) {
	mountinfo := `22 1 254:0 / / rw - ext4 /dev/vda rw
30 22 254:0 /a /srv/c/kubelet rw - ext4 /dev/vda rw
31 30 0:50 / /srv/c/kubelet/pods/a\040b rw - tmpfs tmpfs rw
32 22 0:51 / /srv/cluster rw - tmpfs tmpfs rw
33 22 0:52 / /srv/c rw - tmpfs tmpfs rw
`
	got := mountsBelow(mountinfo, "/srv/c")
	want := []string{"/srv/c/kubelet", "/srv/c/kubelet/pods/a b", "/srv/c"}
	if !slices.Equal(got, want) {
		t.Errorf("mountsBelow = %q, want %q", got, want)
	}
}

func TestPrivateMounts(t *testing.T) {
	const info = `23 27 0:22 / /sys rw,relatime shared:7 - sysfs sysfs rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
28 27 0:23 / /data rw,relatime - tmpfs tmpfs rw
29 28 0:24 / /data rw,relatime shared:8 master:2 - tmpfs tmpfs rw
30 27 0:25 / /srv rw,relatime master:3 - tmpfs tmpfs rw
`
	got := privateMounts(info, []string{"/", "/sys", "/data", "/srv", "/none"})
	if want := []string{"/"}; !slices.Equal(got, want) {
		t.Errorf("private are %q, want %q", got, want)
	}
}

func TestAnswerIsOneLine(t *testing.T) {
	for body, want := range map[string]string{
		"[+]ping ok\n[-]etcd failed: reason withheld\n[+]log ok\n[-]poststarthook/rbac failed\nreadyz check failed\n": "[-]etcd failed: reason withheld; [-]poststarthook/rbac failed",
		"not\nfound\n":           "not; found",
		strings.Repeat("x", 300): strings.Repeat("x", 200),
	} {
		if got := oneLine([]byte(body)); got != want {
			t.Errorf("%q is shown as %q, want %q", body, got, want)
		}
	}
}

func TestDefaultInterface(t *testing.T) {
	const head = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
	for name, tc := range map[string]struct{ routes, want string }{
		"the default route names it": {head + "eth1\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n" +
			"eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n", "eth0"},
		"no default route":                {head + "eth1\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n", ""},
		"a route to half the net is none": {head + "tun0\t00000000\t010200C0\t0003\t0\t0\t0\t00000080\t0\t0\t0\n", ""},
		"loopback does not count":         {head + "lo\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0\n", ""},
		"no routes at all":                {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := defaultInterface(tc.routes); got != tc.want {
				t.Errorf("defaultInterface = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestParseStat(t *testing.T) {
	text := "42 (a) b (c) Z 7 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987654 0 0 0"
	got, err := parseStat(text)
	if want := (procStat{parent: 7, zombie: true, start: 987654}); err != nil || got != want {
		t.Errorf("parseStat = %+v, %v, want %+v", got, err, want)
	}
	if _, err := parseStat("42 no parentheses"); err == nil {
		t.Error("accepts a text without a name in parentheses")
	}
}

func TestAliveTellsProcessesWithOneIDApart(t *testing.T) {
	r, err := record("test", os.Getpid())
	if err != nil || !r.alive() {
		t.Fatalf("this test is not alive: %v", err)
	}
	r.Start--
	if r.alive() {
		t.Error("takes another process with the same id for ours")
	}
}

func TestNamesPath(t *testing.T) {
	for arg, want := range map[string]bool{
		"/srv/c": true, "/srv/c/etcd": true, "--data-dir=/srv/c/etcd": true,
		"/srv/cluster": false, "--data-dir=/srv/cluster": false, "x=/srv/c": false, "c": false,
	} {
		if got := namesPath([]string{arg}, []string{"/srv/c"}); got != want {
			t.Errorf("namesPath(%q) = %v, want %v", arg, got, want)
		}
	}
}

func TestChildEnv(t *testing.T) {
	got := childEnv([]string{"PATH=/x", "https_proxy=http://p", "NO_PROXY=*", "KUBECONFIG=/k", "HOME=/h"})
	want := []string{"GOGC=400", "PATH=/x:/usr/sbin:/sbin:/usr/bin:/bin", "HOME=/h"}
	if !slices.Equal(got, want) {
		t.Errorf("childEnv = %q, want %q", got, want)
	}
}

func TestCgroupHierarchies(t *testing.T) {
	touch := func(path string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	mount := t.TempDir()
	if got := cgroupHierarchies(mount); len(got) != 0 {
		t.Errorf("nothing is mounted, got %v", got)
	}
	touch(filepath.Join(mount, "cpu", "cgroup.procs"))
	touch(filepath.Join(mount, "memory", "cgroup.procs"))
	want := []string{filepath.Join(mount, "cpu"), filepath.Join(mount, "memory")}
	if got := cgroupHierarchies(mount); !slices.Equal(got, want) {
		t.Errorf("version 1: %v, want %v", got, want)
	}
	touch(filepath.Join(mount, "cgroup.controllers"))
	if got := cgroupHierarchies(mount); !slices.Equal(got, []string{mount}) {
		t.Errorf("version 2: %v, want %v", got, mount)
	}
}

func TestRemoveEmptyKeepsFiles(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "a", "file")
	err := errors.Join(
		os.MkdirAll(filepath.Join(dir, "a"), 0o755), os.MkdirAll(filepath.Join(dir, "b", "c"), 0o755),
		os.WriteFile(kept, nil, 0o644), os.Symlink("/does/not/exist", filepath.Join(dir, "b", "link")),
	)
	if err != nil {
		t.Fatal(err)
	}
	removeEmpty(dir)
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("a file was removed: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "b")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder was kept: %v", err)
	}
}

func TestMissingPackages(t *testing.T) {
	wanted := []hostPackage{
		{"there", command("sh")},
		{"absent", command("sh", "no-such-program-here")},
	}
	if got := missingPackages(wanted); !slices.Equal(got, []string{"absent"}) {
		t.Errorf("missingPackages = %v", got)
	}
	err := &MissingError{Packages: []string{"runc", "buildah"}, Reason: "not root"}
	want := "missing on this machine: runc buildah (not root); on Debian: apt-get install --no-install-recommends runc buildah"
	if err.Error() != want {
		t.Errorf("error = %q, want %q", err, want)
	}
	if _, err := exec.LookPath("apt-get"); err == nil && os.Geteuid() == 0 {
		return // it would install packages
	}
	if _, ok := errors.AsType[*MissingError](ensurePackages(context.Background(), os.Stderr, wanted)); !ok {
		t.Error("a missing package is not reported")
	}
}

func TestProgramDockerfile(t *testing.T) {
	got := programDockerfile([]string{"prometheus", "promtool"})
	for _, line := range []string{
		"FROM scratch", "COPY prometheus promtool /bin/", "USER 65534:65534", `ENTRYPOINT ["/bin/prometheus"]`,
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
}
