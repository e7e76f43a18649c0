package promconfig

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// checkRemoteWrite applies the rules that need no look at the cluster.
func checkRemoteWrite(s *v1.RemoteWriteSpec, t gate.Target) error {
	if err := atMostOne([]way{
		{"basicAuth", s.BasicAuth != nil}, {"oauth2", s.OAuth2 != nil}, {"authorization", s.Authorization != nil},
		{"sigv4", s.Sigv4 != nil}, {"azureAd", s.AzureAD != nil},
	}); err != nil {
		return err
	}
	if err := checkAzureAD(s.AzureAD, t); err != nil {
		return fmt.Errorf("azureAd: %w", err)
	}
	return checkProxy(s.ProxyConfig)
}
