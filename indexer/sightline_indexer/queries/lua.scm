; hint: \bfunction\b
; comments: --
; Definitions of Lua: functions in every form, names bound at the top of a file.

(function_declaration name: (identifier) @name body: (_)? @inner) @function
(function_declaration name: (dot_index_expression table: (_) @container field: (_) @name) body: (_)? @inner) @function
(function_declaration name: (method_index_expression table: (_) @container method: (_) @name) body: (_)? @inner) @method
(assignment_statement (variable_list name: (identifier) @name) (expression_list value: (function_definition body: (_)? @inner))) @function @value
(assignment_statement (variable_list name: (dot_index_expression table: (_) @container field: (_) @name)) (expression_list value: (function_definition body: (_)? @inner))) @function
(variable_declaration (assignment_statement (variable_list name: (identifier) @name) (expression_list value: (function_definition body: (_)? @inner))) @function @value)
(variable_declaration (assignment_statement (variable_list name: (identifier) @name)) @variable)
(assignment_statement (variable_list name: (identifier) @name)) @variable
(if_statement) @deep
(do_statement) @deep
(return_statement) @deep
(function_definition body: (_)? @body) @scope
