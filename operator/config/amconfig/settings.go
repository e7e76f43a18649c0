package amconfig

import (
	"encoding/json"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Settings are what an Alertmanager decides for all AlertmanagerConfigs that it selects.
// They are immutable.
type Settings struct {
	data settingsData
	// target is the Alertmanager that reads the file.
	target gate.Target
	key    string
	// trial is the base that AlertmanagerConfigs are tried with.
	trial Frame
}

// settingsData is everything that a fragment can depend on besides its object and its
// references.
type settingsData struct {
	Version   string
	Namespace string // of the Alertmanager; empty where no fragment depends on it
	Strategy  v1.AlertmanagerConfigMatcherStrategyType
	Labels    dialect
	Globals   Globals
}

// Globals say what receivers may leave out because the base has it.
type Globals struct {
	SMTPFrom, SMTPSmarthost                  bool
	SlackURL, SlackAppToken                  bool
	OpsGenieKey, VictorOpsKey                bool
	WeChatSecret, WeChatCorpID               bool
	TelegramToken, MattermostURL             bool
	RocketChatToken, RocketChatTokenID, Jira bool

	// HTTPAuthorization is that of global.http_config, which rules out a Slack app token.
	HTTPAuthorization bool
	// Taken are the names of receivers and time intervals of the base that an
	// AlertmanagerConfig could have too, a line each, sorted.
	Taken string
}

// AnyGlobals is assumed while no base is known that was good: its faults must not show as
// those of AlertmanagerConfigs.
var AnyGlobals = Globals{
	SMTPFrom: true, SMTPSmarthost: true,
	SlackURL: true, SlackAppToken: true,
	OpsGenieKey: true, VictorOpsKey: true,
	WeChatSecret: true, WeChatCorpID: true,
	TelegramToken: true, MattermostURL: true,
	RocketChatToken: true, RocketChatTokenID: true, Jira: true,
}

// NewSettings returns the settings of am, which reads files as Alertmanager of version does.
func NewSettings(am *v1.Alertmanager, version *semver.Version, globals Globals) *Settings {
	target := Target(version)
	s := &Settings{target: target, data: settingsData{
		Version: version.String(), Labels: dialectOf(am, target),
		Strategy: am.MatcherStrategy(), Globals: globals,
	}}
	if s.data.Strategy == v1.OnNamespaceExceptForAlertmanagerNamespaceConfigMatcherStrategyType {
		s.data.Namespace = am.Namespace
	}
	s.trial = trialFrame(globals)
	key, err := json.Marshal(s.data)
	if err != nil {
		panic(err) // strings and booleans
	}
	s.key = string(key)
	return s
}

// Target is what reads a file of this version.
func Target(version *semver.Version) gate.Target {
	return gate.Target{Program: gate.Alertmanager, Version: version}
}

// Key is equal for settings under which every AlertmanagerConfig compiles to the same.
func (s *Settings) Key() string { return s.key }
