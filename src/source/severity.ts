export type Severity = 'error' | 'warning' | 'notice';
