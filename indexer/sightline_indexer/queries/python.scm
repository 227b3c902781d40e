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

(if_statement) @deep
(try_statement) @deep
(with_statement) @deep
(for_statement) @hinted
(while_statement) @hinted
(match_statement) @hinted
(lambda body: (_) @body) @scope
