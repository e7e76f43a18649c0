package v1beta1

// TimeInterval holds settings.
type TimeInterval struct {
	// Name is a setting.
	//
	// +required
	Name string `json:"name"`

	// TimeIntervals is a setting.
	//
	// +optional
	TimeIntervals []TimePeriod `json:"timeIntervals,omitempty"`
}

// TimePeriod holds settings.
type TimePeriod struct {
	// DaysOfMonth is a setting.
	//
	// +optional
	DaysOfMonth []DayOfMonthRange `json:"daysOfMonth,omitempty"`

	// Months is a setting.
	//
	// +kubebuilder:validation:items:Pattern=`^((?i)january|february|march|april|may|june|july|august|september|october|november|december|1[0-2]|[1-9])(?:((:((?i)january|february|march|april|may|june|july|august|september|october|november|december|1[0-2]|[1-9]))$)|$)`
	// +optional
	Months []string `json:"months,omitempty"`

	// Times is a setting.
	//
	// +optional
	Times []TimeRange `json:"times,omitempty"`

	// Weekdays is a setting.
	//
	// +kubebuilder:validation:items:Pattern=`^((?i)sun|mon|tues|wednes|thurs|fri|satur)day(?:((:(sun|mon|tues|wednes|thurs|fri|satur)day)$)|$)`
	// +optional
	Weekdays []string `json:"weekdays,omitempty"`

	// Years is a setting.
	//
	// +kubebuilder:validation:items:Pattern=`^2\d{3}(?::2\d{3}|$)`
	// +optional
	Years []string `json:"years,omitempty"`
}

// TimeRange holds settings.
type TimeRange struct {
	// EndTime is a setting.
	//
	// +kubebuilder:validation:Pattern=`^((([01][0-9])|(2[0-3])):[0-5][0-9])$|(^24:00$)`
	// +optional
	EndTime string `json:"endTime,omitempty"`

	// StartTime is a setting.
	//
	// +kubebuilder:validation:Pattern=`^((([01][0-9])|(2[0-3])):[0-5][0-9])$|(^24:00$)`
	// +optional
	StartTime string `json:"startTime,omitempty"`
}

// DayOfMonthRange holds settings.
type DayOfMonthRange struct {
	// End is a setting.
	//
	// +kubebuilder:validation:Minimum=-31
	// +kubebuilder:validation:Maximum=31
	// +optional
	End int `json:"end,omitempty"`

	// Start is a setting.
	//
	// +kubebuilder:validation:Minimum=-31
	// +kubebuilder:validation:Maximum=31
	// +optional
	Start int `json:"start,omitempty"`
}
