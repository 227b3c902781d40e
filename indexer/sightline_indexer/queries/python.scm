; hint: \b(?:def|class)\b
; comments: #
; docs: docstring
; Definitions of Python: classes, functions at any depth, names bound in modules and classes.

(function_definition name: (identifier) @name body: (block) @inner) @function
(class_definition name: (identifier) @name body: (block) @body) @class
(decorated_definition) @body

(expression_statement (assignment left: (identifier) @name) @variable)
(expression_statement (assignment left: (pattern_list (identifier) @name)) @variable)
(expression_statement (assignment right: (assignment left: (identifier) @name) @variable))
(type_alias_statement left: (type (identifier) @name)) @class

; Both branches of a condition bind names of the module or class.
(if_statement [consequence: (block) @body (elif_clause (block) @body) (else_clause (block) @body)])
(try_statement [(block) @body (except_clause (block) @body) (else_clause (block) @body) (finally_clause (block) @body)])
(with_statement (block) @body)
(for_statement) @deep
(while_statement) @deep
(match_statement) @deep
(lambda body: (_) @body) @scope
