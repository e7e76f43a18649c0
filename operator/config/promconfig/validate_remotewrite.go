package promconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
)

// checkRemoteWrite checks everything except the HTTP client blocks, which are checked
// when they are resolved.
func checkRemoteWrite(s *v1.RemoteWriteSpec, rules relabelRules) error {
	return errors.Join(
		clientconfig.AtMostOne(
			way("basicAuth", s.BasicAuth != nil), way("oauth2", s.OAuth2 != nil), way("authorization", s.Authorization != nil),
			way("sigv4", s.Sigv4 != nil), way("azureAd", s.AzureAD != nil),
			way("bearerToken", s.BearerToken != ""), way("bearerTokenFile", s.BearerTokenFile != ""),
		),
		checkEndpoint("url", s.URL),
		checkHeaders(s.Headers, otherThanHeader),
		faults.At("writeRelabelConfigs", rules.check(s.WriteRelabelConfigs)),
		faults.At("queueConfig", checkQueue(s.QueueConfig, rules.target)),
	)
}

// checkDistinct rejects entries of a list that equal an earlier entry or have its name, because the
// server rejects the whole file for them. nameOf is nil if names need not differ.
//
// Errors: of the first such entry.
func checkDistinct[T any](list string, specs []T, nameOf func(*T) string) error {
	names, texts := map[string]int{}, map[string]int{}
	for i := range specs {
		text, err := json.Marshal(&specs[i])
		if err != nil {
			return faults.At(faults.Index(list, i), err)
		}
		if before, again := texts[string(text)]; again {
			return faults.At(faults.Index(list, i), fmt.Errorf("is the same as %s: remove one of them", faults.Index(list, before)))
		}
		texts[string(text)] = i
		if nameOf == nil || nameOf(&specs[i]) == "" {
			continue
		}
		name := nameOf(&specs[i])
		if before, again := names[name]; again {
			return faults.At(faults.Index(list, i), faults.At("name", fmt.Errorf("%q is the name of %s: write another one", name, faults.Index(list, before))))
		}
		names[name] = i
	}
	return nil
}

// checkEndpoint rejects a text that is not a URL in a field of the workload. A text with variables is checked after
// their substitution. The message does not contain the URL, which may contain a password.
func checkEndpoint(field, text string) error {
	if _, err := url.Parse(text); err == nil || strings.Contains(text, "$(") {
		return nil
	}
	if _, err := url.Parse("https://" + text); err == nil && !strings.ContainsAny(text, "/@?") {
		return faults.At(field, fmt.Errorf("is not a URL: write https://%s", text))
	}
	return faults.At(field, errors.New("is not a URL"))
}
