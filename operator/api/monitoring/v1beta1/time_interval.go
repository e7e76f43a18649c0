package v1beta1

// TimeInterval is a named set of times.
type TimeInterval struct {
	// Name that routes refer to.
	//
	// +required
	Name string `json:"name"`

	// Times of the set; it holds when any of them does.
	//
	// +optional
	TimeIntervals []TimePeriod `json:"timeIntervals,omitempty"`
}

// TimePeriod is a time that recurs. It holds when all of its fields do; an empty one always does. Times are in
// UTC.
type TimePeriod struct {
	// Days of the month.
	//
	// +optional
	DaysOfMonth []DayOfMonthRange `json:"daysOfMonth,omitempty"`

	// Months by name or number, or ranges of them such as `may:august`.
	//
	// +kubebuilder:validation:items:Pattern=`^((?i)january|february|march|april|may|june|july|august|september|october|november|december|1[0-2]|[1-9])(?:((:((?i)january|february|march|april|may|june|july|august|september|october|november|december|1[0-2]|[1-9]))$)|$)`
	// +optional
	Months []string `json:"months,omitempty"`

	// Times of the day.
	//
	// +optional
	Times []TimeRange `json:"times,omitempty"`

	// Days of the week by name, or ranges of them such as `monday:friday`.
	//
	// +kubebuilder:validation:items:Pattern=`^((?i)sun|mon|tues|wednes|thurs|fri|satur)day(?:((:(sun|mon|tues|wednes|thurs|fri|satur)day)$)|$)`
	// +optional
	Weekdays []string `json:"weekdays,omitempty"`

	// Years, or ranges of them such as `2030:2032`.
	//
	// +kubebuilder:validation:items:Pattern=`^2\d{3}(?::2\d{3}|$)`
	// +optional
	Years []string `json:"years,omitempty"`
}

// TimeRange is a part of a day.
type TimeRange struct {
	// Minute after the last, as `HH:MM`; `24:00` is the end of the day.
	//
	// +kubebuilder:validation:Pattern=`^((([01][0-9])|(2[0-3])):[0-5][0-9])$|(^24:00$)`
	// +optional
	EndTime string `json:"endTime,omitempty"`

	// First minute, as `HH:MM`.
	//
	// +kubebuilder:validation:Pattern=`^((([01][0-9])|(2[0-3])):[0-5][0-9])$|(^24:00$)`
	// +optional
	StartTime string `json:"startTime,omitempty"`
}

// DayOfMonthRange is a range of days of a month. Negative numbers count from its end: -1 is the last day.
type DayOfMonthRange struct {
	// Last day, which is part of the range.
	//
	// +kubebuilder:validation:Minimum=-31
	// +kubebuilder:validation:Maximum=31
	// +optional
	End int `json:"end,omitempty"`

	// First day.
	//
	// +kubebuilder:validation:Minimum=-31
	// +kubebuilder:validation:Maximum=31
	// +optional
	Start int `json:"start,omitempty"`
}
