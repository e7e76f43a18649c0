package promconfig

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reservedHeaders are those that the server sets itself. It refuses the whole file for one of
// them.
var reservedHeaders = []string{
	"host", "content-encoding", "content-length", "content-type", "user-agent", "connection", "keep-alive",
	"proxy-authenticate", "proxy-authorization", "www-authenticate", "accept-encoding",
	"x-prometheus-remote-write-version", "x-prometheus-remote-read-version",
	"x-amz-date", "x-amz-security-token", "x-amz-content-sha256",
}

// checkHeaders refuses the headers that the server refuses in remote_write and remote_read.
// The values are never said: they may be credentials.
func checkHeaders(headers map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		switch lower := strings.ToLower(name); {
		case lower == "authorization":
			return errors.New("headers: Prometheus refuses Authorization here; use authorization, with the token in a Secret, or basicAuth or oauth2")
		case slices.Contains(reservedHeaders, lower):
			return fmt.Errorf("headers: Prometheus sets %s itself and refuses it here", name)
		}
	}
	return nil
}
