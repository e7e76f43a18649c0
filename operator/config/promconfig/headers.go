package promconfig

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// reservedHeaders lists headers that the server sets itself. It rejects a file that sets any of them.
var reservedHeaders = []string{
	"host", "content-encoding", "content-length", "content-type", "user-agent", "connection", "keep-alive",
	"proxy-authenticate", "proxy-authorization", "www-authenticate", "accept-encoding",
	"x-prometheus-remote-write-version", "x-prometheus-remote-read-version",
	"x-amz-date", "x-amz-security-token", "x-amz-content-sha256",
}

// otherThanHeader is what remote write and remote read have instead of the header Authorization.
const otherThanHeader = "authorization, with the token in a Secret, or basicAuth or oauth2"

// checkHeaders rejects the headers that the server rejects in remote_write, remote_read and tracing. instead is what to
// use instead of the header Authorization. Errors do not contain values, which may be credentials.
func checkHeaders(headers map[string]string, instead string) error {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		switch lower := strings.ToLower(name); {
		case lower == "authorization":
			return faults.At(faults.Key("headers", name), errors.New("is refused by Prometheus; use "+instead))
		case slices.Contains(reservedHeaders, lower):
			return faults.At(faults.Key("headers", name), errors.New("is refused by Prometheus, which sets it itself"))
		}
	}
	return nil
}
