; hint: \bfunction\b|\(\s*\)
; comments: #
; Definitions of shell scripts: functions in both forms, names bound at the top.

(function_definition name: (word) @name body: (_) @inner) @function
(variable_assignment name: (variable_name) @name) @variable
(declaration_command (variable_assignment name: (variable_name) @name) @variable)
(if_statement) @deep
(case_statement) @deep
(compound_statement) @deep
(list) @deep
(for_statement) @deep
(while_statement) @deep
