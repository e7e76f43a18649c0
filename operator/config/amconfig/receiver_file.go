package amconfig

import (
	"errors"
	"path"
	"strings"
)

// privateDirs are folders in the containers whose files are not for the receivers of
// AlertmanagerConfigs: they hold the secrets of all of them and those of the pod, and a
// receiver sends what it reads to wherever its object says.
var privateDirs = []string{
	"/etc/alertmanager/config", "/etc/alertmanager/config_out", certsDir,
	"/etc/alertmanager/web_config", "/etc/alertmanager/cluster_tls_config",
	"/alertmanager", // silences and notifications of all
	"/var/run/secrets", "/run/secrets",
	"/proc", "/sys", "/dev",
}

var (
	errFilePath    = errors.New(`must be an absolute path without "//", "." and ".."`)
	errPrivateFile = errors.New("files of this folder must not be sent to receivers; mount the file with spec.secrets of the Alertmanager")
)

// file checks a path from which Alertmanager reads a credential; "" is fine. The base may
// name any: who writes it has the pods anyway.
func (c *compiler) file(field, name string) error {
	if name == "" || c.isBase {
		return nil
	}
	if !path.IsAbs(name) || path.Clean(name) != name {
		return at(field, errFilePath)
	}
	for _, dir := range privateDirs {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return at(field, errPrivateFile)
		}
	}
	return nil
}
